// What each combine computes, as data: a small graph that updates the accumulators. The interpreter evaluates it on
// numbers, code generation emits it. Others name a combine only for its form, its speed or its gradient.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace sinter::ir {

/// Arg k is accumulator k. The Args that follow are the sources of one step, or the accumulators of the second partial
/// result. All shapes are [].
struct CombineGraph {
  std::shared_ptr<Arena> graph;
  std::vector<UOp> next;  ///< new value of each accumulator
};

/// Adds one element to the accumulators. `types`: of the accumulators.
CombineGraph combine_step(Combine combine, std::span<const DType> types);
/// Merges two partial results, the earlier elements first.
CombineGraph combine_merge(Combine combine, std::span<const DType> types);
/// Whether an accumulator follows its source alone: a step reads nothing else for it.
bool follows_source_alone(const CombineGraph& step, size_t accumulator);
/// The ops of one step, without those whose outcome is known since they read constant sources only.
struct StepOps {
  std::vector<Op> per_chain;
  std::vector<Op> shared;  ///< the same in all chains if a step has an element for each: the count of a Moments
  std::vector<Op> all() const {
    std::vector<Op> out = per_chain;
    out.insert(out.end(), shared.begin(), shared.end());
    return out;
  }
};
/// Of a REDUCE or SCAN, for cost models.
StepOps combine_step_ops(UOp reduce);
/// The combine that reduces partial results.
constexpr Combine merge_combine(Combine combine) { return combine == Combine::Dot ? Combine::Add : combine; }
/// The op that makes an element and an update one; a scatter that sets has none.
constexpr Op op_of(ScatterMode mode) {
  return mode == ScatterMode::Mul   ? Op::Mul
         : mode == ScatterMode::Max ? Op::Max
         : mode == ScatterMode::Min ? Op::Min
                                    : Op::Add;
}
/// The value of accumulator `result` before the first element.
Scalar reduction_identity(Combine combine, DType dtype, int result = 0);
/// The types of a REDUCE's accumulators.
std::vector<DType> accumulator_types(UOp reduce);

}  // namespace sinter::ir
