// Checks and terms that update rules share.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

#include "sinter/nn/optim.h"

namespace sinter {
inline namespace v0 {
namespace optim {

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
/// The mean after one more value: mean * kept + value * (1 - kept).
inline Tensor running(const Tensor& mean, const Tensor& value, double kept) {
  return mean * kept + value * (1.0 - kept);
}

}  // namespace optim
}  // namespace v0
}  // namespace sinter
