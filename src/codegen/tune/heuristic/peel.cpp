// Outside of the hull of the values at which a condition may fail, it holds.
#include "codegen/tune/heuristic/peel.h"

#include <algorithm>

#include "codegen/kernel/ceil_div.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/normalize/predicates.h"
#include "codegen/tune/heuristic/register_pressure.h"
#include "rewrite/interval.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int kMostEdge = 2;  ///< steps at either end, whose text is longer

/// Leaves of `inside` the values of a range of so many at which the condition holds; whether these are known, and of
/// one piece.
bool narrow(Inside& inside, UOp condition, UOp range, int64_t size) {
  ir::Facts closed;
  closed.assume(condition, false);
  if (closed.ranges().size() != 1 || closed.ranges()[0].core.factor(range) == 0) return false;
  const ir::Bounds outside = ir::Intervals(closed).of(range);
  if (outside.lo > outside.hi) return true;
  if (outside.lo <= 0)
    inside.from = std::clamp<int64_t>(outside.hi + 1, inside.from, size);
  else if (outside.hi >= size - 1)
    inside.to = std::min(inside.to, outside.lo);
  else
    return false;
  return true;
}

/// Whether there is a point for each thread if each holds the whole range: along the other ranges of the image, or of
/// several.
bool leaves_points(View& view, const Work& product, UOp range, const runtime::Target& target) {
  int64_t points = 1;
  for (UOp r : product.outs) {
    const bool beside = std::any_of(product.accesses.begin(), product.accesses.end(),
                                    [&](UOp a) { return view.depends(a, range) && view.depends(a, r); });
    if (is_outer(r) && !(r == range) && beside) points *= view.size(r);
  }
  return points >= target.threads;
}

}  // namespace

std::optional<Inside> inside_of(View& view, const Work& product, UOp range, const runtime::Target& target) {
  const UOp gate = common_gate(product.node);
  if (!gate || product.own.empty() || product.chains() > 1 || range->src[0]->op != Op::Const ||
      !view.depends(gate, range))
    return {};
  const UOp last = product.own.back();
  if (view.size(last) > kWholeLoop || !leaves_points(view, product, range, target)) return {};
  Inside inside{0, view.size(range)};
  for (UOp c : ir::operands_of(gate, Op::And)) {
    if (!view.depends(c, range) && view.depends(c, last)) return {};
    if (!view.depends(c, range)) continue;
    for (UOp r : view.ranges())
      if (!(r == range) && !(r == last) && view.depends(c, r)) return {};
    if (!narrow(inside, c, range, view.size(range))) return {};
  }
  inside.to = std::max(inside.from, inside.to);
  return inside;
}

std::optional<Peel> peel(const Inside& inside, View& view, UOp range, int copies) {
  const int64_t size = view.size(range), steps = size / copies, whole = steps * copies;
  if (inside.from == inside.to)
    return steps <= 2 * kMostEdge ? std::optional(Peel{range_id(range), static_cast<int>(steps), 0}) : std::nullopt;
  const int64_t first = std::min(steps, ceil_div(inside.from, copies));
  const int64_t last = std::min(steps - first, ceil_div(std::max<int64_t>(0, whole - inside.to), copies));
  if (std::max(first, last) > kMostEdge) return {};
  return Peel{range_id(range), static_cast<int>(first), static_cast<int>(last)};
}

std::optional<Peel> peel_of(View& view, const Work& product, const RegisterTile& tile, const runtime::Target& target) {
  if (!tile.first || tile.rows < 2) return {};
  const std::optional<Inside> inside = inside_of(view, product, tile.first, target);
  return inside ? peel(*inside, view, tile.first, tile.rows) : std::nullopt;
}

std::vector<Opt> peel_products(Choice& c, std::vector<Opt> opts) {
  for (const Choice::Product& p : c.products) {
    const std::optional<Peel> peel = peel_of(c.view, *p.work, p.tile, c.target);
    if (!peel || *peel == Peel{peel->range, 0, 0} || std::find(opts.begin(), opts.end(), Opt(*peel)) != opts.end())
      continue;
    opts.emplace_back(*peel);
    if (!is_legal(c.kernel, opts)) opts.pop_back();
  }
  return opts;
}

bool knows_edges(Choice& c, const Choice::Product& product, const std::vector<Opt>& opts) {
  const std::optional<Peel> peel = peel_of(c.view, *product.work, product.tile, c.target);
  if (!peel) return false;
  if (*peel != Peel{peel->range, 0, 0}) return std::find(opts.begin(), opts.end(), Opt(*peel)) != opts.end();
  const UOp range = product.tile.first;
  const Block* block = find_opt<Block>(opts, peel->range);
  return !is_outer(range) || (block && block->size >= c.view.size(range));
}

}  // namespace sinter::codegen
