// A condition holds outside the hull of the values at which it may fail.
#include "codegen/tune/heuristic/peel.h"

#include <algorithm>

#include "codegen/kernel/access.h"
#include "codegen/kernel/common_predicate.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/tune/heuristic/register_pressure.h"
#include "ir/ceil_div.h"
#include "ir/contains.h"
#include "rewrite/interval.h"

namespace sinter::codegen {
namespace {

/// Taps that lie outside of an image, as a share, where some do: (p + 1) / 2 of 2 p + 1 where a window of that width
/// has a border of p.
constexpr double kTapsOutside = .3;
constexpr int kMaxEdgeSteps = 2;  ///< peeled steps at either end, which make the code longer

/// Narrows `interior` to the values at which the condition holds, of a range of `size` values. Returns false if these
/// are unknown or not contiguous.
bool narrow_interior(Interior& interior, UOp condition, UOp range, int64_t size) {
  ir::Facts closed;
  closed.assume(condition, false);
  if (closed.constraints().size() != 1 || closed.constraints()[0].core.factor(range) == 0) return false;
  const ir::Interval outside = ir::IntervalAnalysis(closed).of(range);
  if (outside.lo > outside.hi) return true;
  if (outside.lo <= 0)
    interior.from = std::clamp<int64_t>(outside.hi + 1, interior.from, size);
  else if (outside.hi >= size - 1)
    interior.to = std::min(interior.to, outside.lo);
  else
    return false;
  return true;
}

/// Whether every thread has a task if each task covers the whole range: along the other ranges of an image, or of
/// several images.
bool leaves_enough_tasks(KernelAnalysis& analysis, const StatementAnalysis& product, UOp range,
                         const runtime::Target& target) {
  int64_t tasks = 1;
  for (UOp r : product.result_ranges) {
    const bool beside = std::ranges::any_of(
        product.accesses, [&](UOp a) { return analysis.depends(a, range) && analysis.depends(a, r); });
    if (is_outer(r) && !(r == range) && beside) tasks *= analysis.size(r);
  }
  return tasks >= target.threads;
}

/// The share of a product's steps at which a condition of a window's position fails; 0: unknown.
double closed_share(KernelAnalysis& analysis, const StatementAnalysis& product, UOp condition) {
  ir::Facts closed;
  closed.assume(condition, false);
  for (UOp r : product.result_ranges) {
    if (!analysis.depends(condition, r)) continue;
    const ir::Interval outside = ir::IntervalAnalysis(closed).of(r);
    const auto size = static_cast<double>(analysis.size(r));
    return kTapsOutside * std::clamp(static_cast<double>(outside.hi - outside.lo + 1), 0.0, size) / size;
  }
  return 0;
}

/// Whether a task covers the whole range, so that each step at an edge is a number.
bool covers(TuningState& state, UOp range, const std::vector<Opt>& opts) {
  const TaskBlock* block = find_opt<TaskBlock>(opts, range_id(range));
  return !is_outer(range) || (block ? block->size : state.width_of(range)) >= state.analysis.size(range);
}

}  // namespace

std::optional<Interior> interior_of(KernelAnalysis& analysis, const StatementAnalysis& product, UOp range,
                                    const runtime::Target& target) {
  const UOp predicate = common_predicate(product.node);
  if (!predicate || product.reduced_ranges.empty() || product.chains() > 1 || range->src[0]->op != Op::Const ||
      !analysis.depends(predicate, range))
    return {};
  const UOp last = product.reduced_ranges.back();
  if (analysis.size(last) > kMaxFullUnroll || !leaves_enough_tasks(analysis, product, range, target)) return {};
  Interior interior{0, analysis.size(range)};
  for (UOp c : ir::operands_of(predicate, Op::And)) {
    if (!analysis.depends(c, range)) continue;
    for (UOp r : analysis.ranges())
      if (!(r == range) && !(r == last) && !is_outer(r) && analysis.depends(c, r)) return {};
    if (!narrow_interior(interior, c, range, analysis.size(range))) return {};
  }
  interior.to = std::max(interior.from, interior.to);
  return interior;
}

std::vector<Border> borders_of(KernelAnalysis& analysis, const StatementAnalysis& product) {
  std::vector<Border> borders;
  if (!product.is_reduce()) return borders;
  for (UOp load : predicated_loads(product.node))
    if (const UOp other = factor_beside(product.node, load))
      for (UOp c : ir::operands_of(predicate_of(load), Op::And))
        if (const double share = closed_share(analysis, product, c); share > 0) borders.push_back({c, other, share});
  return borders;
}

std::optional<Cut> peel_outside(const Interior& interior, KernelAnalysis& analysis, UOp range, int copies) {
  const int64_t size = analysis.size(range), steps = size / copies, whole = steps * copies;
  if (interior.from == interior.to)
    return steps <= 2 * kMaxEdgeSteps ? std::optional(peel(range_id(range), size, copies, steps, 0)) : std::nullopt;
  const int64_t first = std::min(steps, ceil_div(interior.from, copies));
  const int64_t last = std::min(steps - first, ceil_div(std::max<int64_t>(0, whole - interior.to), copies));
  if (std::max(first, last) > kMaxEdgeSteps) return {};
  return peel(range_id(range), size, copies, first, last);
}

std::optional<Cut> peel_of(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile,
                           const runtime::Target& target) {
  if (!tile.row_range || tile.rows < 2) return {};
  const std::optional<Interior> interior = interior_of(analysis, product, tile.row_range, target);
  return interior ? peel_outside(*interior, analysis, tile.row_range, tile.rows) : std::nullopt;
}

std::vector<Opt> peel_products(TuningState& state, std::vector<Opt> opts) {
  for (const TuningState::TiledProduct& p : state.products) {
    const std::optional<Cut> edges = peel_of(state.analysis, *p.work, p.tile, state.target);
    if (!edges || edges->at.empty() || !covers(state, p.tile.row_range, opts) || ir::contains(opts, Opt(*edges)))
      continue;
    opts.emplace_back(*edges);
    if (!is_legal(state.kernel, opts)) opts.pop_back();
  }
  return opts;
}

bool peels_edges(TuningState& state, const TuningState::TiledProduct& product, const std::vector<Opt>& opts) {
  const std::optional<Cut> edges = peel_of(state.analysis, *product.work, product.tile, state.target);
  if (!edges) return false;
  return edges->at.empty() ? covers(state, product.tile.row_range, opts) : ir::contains(opts, Opt(*edges));
}

}  // namespace sinter::codegen
