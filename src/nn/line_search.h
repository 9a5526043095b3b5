// The length of a step along a direction, by the strong Wolfe conditions.
#pragma once

#include <cstdint>
#include <functional>

#include "sinter/tensor.h"

namespace sinter::inline v0::optim {

/// A function of many variables at x + t d.
struct TrialStep {
  double t, loss, slope;  ///< slope: of the loss along d
  Tensor gradient;
};

/// The t at which the loss has fallen by 1e-4 t times the slope at the start and its slope is at most 0.9 of that one;
/// or the best found in `limit` evaluations after the first. `start` is at 0, t the first to try, `longest` the largest
/// element of d. As PyTorch's _strong_wolfe; Nocedal and Wright, algorithms 3.5 and 3.6.
TrialStep strong_wolfe(const std::function<TrialStep(double)>& at, const TrialStep& start, double t, double longest,
                       int64_t limit, double tolerance_change);

}  // namespace sinter::inline v0::optim
