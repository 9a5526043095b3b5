// What each combine computes, as data: a small graph that says what accumulators become. The interpreter evaluates it
// on numbers, code generation writes it in instructions; nothing else knows a combine.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace sinter::ir {

/// Arg k is accumulator k; behind the accumulators follow, by number, the sources of one step, or the accumulators of
/// the second of two partial results. All shapes are [].
struct CombineGraph {
  std::shared_ptr<Arena> graph;
  std::vector<UOp> next;  ///< what each accumulator becomes
};

/// One element joins the accumulators. `types`: of the accumulators.
CombineGraph combine_step(Combine combine, std::span<const DType> types);
/// Two partial results become one, the earlier elements first.
CombineGraph combine_merge(Combine combine, std::span<const DType> types);
/// The ops of one step of a REDUCE or SCAN, for those who price it.
std::vector<Op> combine_step_ops(UOp reduce);
/// The combine that takes partial results as its elements.
constexpr Combine merge_combine(Combine combine) { return combine == Combine::Dot ? Combine::Add : combine; }
/// What accumulator `result` is before the first element.
Scalar reduction_identity(Combine combine, DType dtype, int result = 0);
/// The types of a REDUCE's accumulators.
std::vector<DType> accumulator_types(UOp reduce);

}  // namespace sinter::ir
