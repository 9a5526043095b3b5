// Which sums of products tensor cores compute.
#pragma once

#include <optional>
#include <vector>

#include "runtime/base/target.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// Whether the target's tensor cores compute floats as ir/mma_step.h says. Bytes they all compute so.
bool has_mma_steps(const runtime::Target& target);

/// The value that `n` widens (ir::widened_source), with the movements on top of the cast; null if it widens none.
UOp narrow_source(UOp n);

/// A sum of products as steps of a tensor core (ir/mma_step.h).
struct MmaFactors {
  std::vector<UOp> values;  ///< both factors, of the operands' type
  ir::Ints axes;            ///< those that are summed
  ir::ReductionTree tree;
  int64_t parts = -1;  ///< the axis of the result whose elements are parts of a sum; -1: there are none
};

/// Tensor cores compute the sum over `axes` of the product of `values`, two tensors of one shape and type, if both
/// factors are 16-bit floats of one type, or bytes, widened, or float32 that may be rounded to tf32; if an axis of the
/// sum is long enough for a step and its size is known; if enough results share each element of either factor; and if
/// the machine has them (docs/decisions/0043). `reuse`: how many results share an element of each factor. The longest
/// axis of the sum that is a multiple of a step, or else the longest, becomes the last, along which steps go. Sums of
/// floats much longer than the rounding toward zero of these steps permits are cut into blocks. If there are few
/// results and long sums, blocks are results of their own first, so that more multiprocessors have work.
std::optional<MmaFactors> mma_factors(const std::vector<UOp>& values, const ir::Ints& axes,
                                      const std::vector<int64_t>& reuse, const runtime::Target& target);

}  // namespace sinter::schedule
