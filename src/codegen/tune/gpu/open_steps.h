// Which steps of a sum of products are in the text, and which conditions are asked in them, as
// emit/reduction_elements.cpp writes the sum.
#pragma once

#include <set>
#include <vector>

#include "codegen/tune/gpu/thread_loop.h"

namespace sinter::codegen {

/// What becomes of the common predicate of both factors.
struct OpenSteps {
  /// Conditions and selects that are not asked in each copy. All are, and elements added as zeros, where a condition
  /// differs between copies and its outcome is unknown.
  std::set<ir::Node*> decided;
  /// Of an iteration's copies, the share that is in the text: a closed one is not, where its ranges are numbers.
  double copies = 1;
};

/// Bounds of loops and guards of steps save no time: by the kernels of clock_model_test.cpp a warp takes as long as if
/// it ran all steps.
OpenSteps open_steps(const Statement& s, const std::vector<ThreadLoop>& loops, const LoopSchedule& schedule);

}  // namespace sinter::codegen
