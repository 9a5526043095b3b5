// lo <= factor * range + rest <= hi, whatever the rest is.
#include "codegen/peel.h"

#include <algorithm>
#include <limits>

#include "codegen/gates.h"
#include "codegen/loop_tree.h"
#include "codegen/round.h"
#include "codegen/steps.h"
#include "rewrite/interval.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int kMostEdge = 2;  ///< steps at either end, whose text is longer

/// Leaves of `inside` the values at which the condition holds; whether that is known.
bool narrow(Inside& inside, UOp condition, UOp range) {
  ir::Facts facts;
  facts.assume(condition);
  if (facts.ranges().size() != 1) return false;
  const auto& [core, lo, hi] = facts.ranges()[0];
  const int64_t factor = core.factor(range);
  ir::Intervals intervals;
  const ir::Bounds rest = intervals.of(ir::plus(core, ir::linear_of(range), -factor));
  constexpr ir::Bounds kAll;
  if (factor == 0 || rest.lo == kAll.lo || rest.hi == kAll.hi) return false;
  // At least `above` and at most `below`, both of |factor| times the range.
  const int64_t by = std::abs(factor);
  const bool up = factor > 0;
  if (up ? lo > kAll.lo : hi < kAll.hi) {
    const int64_t above = up ? lo - rest.lo : rest.hi - hi;
    inside.from = std::max(inside.from, -ir::floor_div(-above, by));
  }
  if (up ? hi < kAll.hi : lo > kAll.lo) {
    const int64_t below = up ? hi - rest.hi : rest.lo - lo;
    inside.to = std::min(inside.to, ir::floor_div(below, by) + 1);
  }
  return true;
}

}  // namespace

std::optional<Inside> inside_of(View& view, const Work& product, UOp range) {
  const UOp gate = common_gate(product.node);
  if (!gate || product.own.empty() || product.chains() > 1 || range->src[0]->op != Op::Const || !view.depends(gate, range)) return {};
  const UOp last = product.own.back();
  if (view.size(last) > kWholeLoop) return {};
  Inside inside{0, view.size(range)};
  for (UOp c : ir::operands_of(gate, Op::And)) {
    if (!view.depends(c, range) && view.depends(c, last)) return {};
    if (!view.depends(c, range)) continue;
    for (UOp r : view.ranges())
      if (!(r == range) && !(r == last) && view.depends(c, r)) return {};
    if (!narrow(inside, c, range)) return {};
  }
  inside.to = std::max(inside.from, inside.to);
  return inside;
}

std::optional<Peel> peel(const Inside& inside, View& view, UOp range, int copies) {
  const int64_t size = view.size(range), steps = size / copies, whole = steps * copies;
  if (inside.from == inside.to) return steps <= 2 * kMostEdge ? std::optional(Peel{range_id(range), static_cast<int>(steps), 0}) : std::nullopt;
  const int64_t first = std::min(steps, ceil_div(inside.from, copies));
  const int64_t last = std::min(steps - first, ceil_div(std::max<int64_t>(0, whole - inside.to), copies));
  if (std::max(first, last) > kMostEdge) return {};
  return Peel{range_id(range), static_cast<int>(first), static_cast<int>(last)};
}

std::optional<Peel> peel_of(View& view, const Work& product, const RegisterTile& tile) {
  if (!tile.first || tile.rows < 2) return {};
  const std::optional<Inside> inside = inside_of(view, product, tile.first);
  return inside ? peel(*inside, view, tile.first, tile.rows) : std::nullopt;
}

std::vector<Opt> peel_products(Choice& c, std::vector<Opt> opts) {
  for (const Choice::Product& p : c.products) {
    const std::optional<Peel> peel = peel_of(c.view, *p.work, p.tile);
    if (!peel || (peel->first == 0 && peel->last == 0)) continue;
    opts.emplace_back(*peel);
    if (!is_legal(c.kernel, opts)) opts.pop_back();
  }
  return opts;
}

}  // namespace sinter::codegen
