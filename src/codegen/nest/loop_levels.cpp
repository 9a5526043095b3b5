// Lanes, copies and threads of a REDUCE's innermost loop follow from its ReductionTree.
#include "codegen/nest/loop_levels.h"

#include <fmt/core.h>

#include "codegen/nest/mma_statement.h"
#include "ir/mma_step.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

/// Chains that form one vector if no Opt sets lanes or unroll. More of them go into an array.
constexpr int kMaxDefaultChains = 64;

/// Whether a single iteration, without lanes, takes all values of a range.
bool takes_all(const LoopAxis& a, const LoopWidth& w) {
  return a.levels() == 1 && w.lanes == 1 && w.threads == 1 && w.warp == WarpDigits{} && a.size == w.unroll;
}

}  // namespace

void LoopLevels::add(std::vector<LoopLevel>& loops, UOp range, const LoopWidth& w) const {
  const LoopAxis& a = schedule_.of(range);
  if (a.single()) return;
  for (int l = 0; l + 1 < a.levels(); ++l) loops.push_back({range, l});
  LoopLevel last{
      range, a.levels() - 1, w.lanes, w.unroll * w.warp.copies, w.threads, w.threads > 1 ? a.thread_stride : 1, w.warp};
  last.distance = w.distance;
  last.straight = is_straight(a, last.width());
  loops.push_back(last);
}

bool LoopLevels::is_straight(const LoopAxis& a, int64_t width) const {
  return !schedule_.mma.empty() && !a.outer() && a.levels() == 1 && a.size > 0 && width == a.size;
}

bool LoopLevels::lanes_inside(UOp node, UOp range) {
  const size_t number = ranges_.number(range);
  for (UOp n : ir::topological(node))
    if (n->op == Op::Reduce && n != node && ranges_.free(n)[number] &&
        (n->reduction().tree.lanes > 1 || has_plain_steps(n)))
      return true;
  return false;
}

bool LoopLevels::has_plain_steps(UOp reduce) {
  return reduce->reduction().tree.mma && !mma_ranges_of(reduce, schedule_, ranges_);
}

/// Lanes and unroll factor of a REDUCE's innermost loop. Its ReductionTree assigns elements to chains. If lanes and
/// copies cannot follow it, the chains go into an array. `vector`: an outer range has lanes.
LoopWidth LoopLevels::width_of(UOp reduce, const LoopAxis& axis, bool vector) {
  const int chains = reduce->reduction().tree.lanes;
  if (reduce->reduction().tree.mma) {
    const DType factor = reduce->src[0]->dtype;
    if (has_plain_steps(reduce)) {
      const int step = static_cast<int>(ir::mma_step_length(factor));
      return lanes_inside(reduce, axis.range) ? LoopWidth{1, step} : LoopWidth{step, axis.unroll};
    }
    const MmaDim depth = mma_depth(factor);
    // Columns of another product: the same threads hold the same elements.
    if (!(axis.warp == WarpDigits{})) {
      const bool same =
          axis.lanes == depth.lanes && axis.warp.threads == depth.warp.threads && axis.warp.stride == depth.warp.stride;
      if (!same || axis.unroll % depth.warp.copies || axis.threads > 1)
        refuse(fmt::format("mma on range {}", range_id(axis.range)),
               "its columns are no whole steps of another product");
      return {axis.lanes, axis.unroll, 1, axis.warp};
    }
    return {depth.lanes, axis.unroll, 1, depth.warp};
  }
  vector |= lanes_inside(reduce, axis.range);
  if (chains > 1 && (axis.threads > 1 || axis.warp.threads > 1)) return threaded_width(reduce, axis, vector);
  if (axis.lanes > 1 && !vector) {
    const bool follows = chains <= axis.lanes || axis.lanes * axis.unroll % chains == 0;
    return {axis.lanes, follows ? axis.unroll : chains / axis.lanes};
  }
  const bool free = axis.width() == 1 && axis.steps.empty();
  if (chains > 1 && chains <= kMaxDefaultChains && free && !vector) return {chains, 1};
  return {1, chains == 1 || (axis.size && axis.unroll % chains == 0) ? axis.unroll : 1};
}

/// Every thread has the same number of chains: adjacent threads take adjacent vectors, unrolled copies the next ones.
LoopWidth LoopLevels::threaded_width(UOp reduce, const LoopAxis& axis, bool vector) const {
  const int chains = reduce->reduction().tree.lanes, lanes = vector ? 1 : axis.lanes;
  const int together = axis.threads * axis.warp.threads * lanes;
  if (chains % together || axis.warp.copies > 1 || (axis.threads > 1 && axis.warp.threads > 1))
    refuse(fmt::format("thread_bind({}, {}, {})", range_id(axis.range), axis.threads, axis.thread_stride),
           fmt::format("a REDUCE has {} chains, which {} vectors do not divide", chains, together));
  const int copies = chains / together;
  return {lanes, axis.unroll % copies ? copies : axis.unroll, axis.threads, axis.warp};
}

std::vector<LoopLevel> LoopLevels::of_reduce(UOp reduce, bool vector) {
  std::vector<UOp> own = ranges_of(reduce);
  std::erase_if(own, one_trip);
  std::vector<LoopWidth> widths(own.size());
  for (size_t i = own.size(); i-- > 0;) {
    const LoopAxis& a = schedule_.of(own[i]);
    if (i + 1 == own.size())
      widths[i] = width_of(reduce, a, vector);
    else if (takes_all(schedule_.of(own[i + 1]), widths[i + 1]) && takes_all(a, {1, a.unroll}))
      widths[i].unroll = a.unroll;
    else
      break;  // copies of this loop would follow copies of the one inside it
  }
  std::vector<LoopLevel> loops;
  for (size_t i = 0; i < own.size(); ++i) {
    const LoopAxis& a = schedule_.of(own[i]);
    const LoopWidth& w = widths[i];
    for (int64_t step : a.steps)
      if (step % w.step()) refuse(to_string(Split{range_id(own[i]), step}), "a REDUCE needs blocks of all its chains");
    add(loops, own[i], w);
  }
  return loops;
}

}  // namespace sinter::codegen
