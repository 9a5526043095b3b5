// Checks and terms that update rules share.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "sinter/nn/optim.h"

namespace sinter::inline v0::optim {

using Settings = std::initializer_list<std::pair<const char*, double>>;

/// UsageError unless every setting is finite and at least 0.
void check_settings(std::string_view rule, Settings settings, Loc where);
/// UsageError unless every setting is in [0, 1): the shares of running means.
void check_shares(std::string_view rule, Settings settings, Loc where);

/// The gradient to go down along, which includes the decay of the parameter.
inline Tensor descent(const Tensor& gradient, const Tensor& parameter, bool maximize, double weight_decay) {
  const Tensor g = maximize ? -gradient : gradient;
  return weight_decay != 0 ? g + parameter * weight_decay : g;
}
/// What makes a running mean that began at 0 a mean of its t values.
inline double unbiased(double kept, int64_t t) { return 1.0 / (1.0 - std::pow(kept, static_cast<double>(t))); }
/// The mean after one more value: mean * kept + value * (1 - kept).
inline Tensor running(const Tensor& mean, const Tensor& value, double kept) {
  return mean * kept + value * (1.0 - kept);
}

}  // namespace sinter::inline v0::optim
