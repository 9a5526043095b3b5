#include "codegen/tune/gpu/open_steps.h"

#include <algorithm>
#include <map>
#include <optional>

#include "codegen/kernel/common_predicate.h"
#include "ir/contains.h"
#include "ir/walk.h"
#include "rewrite/interval.h"

namespace sinter::codegen {
namespace {

using ir::UOp;

constexpr int64_t kMaxValues = 1 << 14;  ///< combinations of values that are looked at

/// lo <= sum <= hi, a sum of ranges.
struct Bound {
  ir::LinearExpr sum;
  int64_t lo, hi;
};

std::optional<Bound> bound_of(UOp condition) {
  ir::Facts facts;
  facts.assume(condition);
  if (facts.constraints().size() != 1) return {};
  const auto& [core, lo, hi] = facts.constraints()[0];
  const bool ranges = std::ranges::all_of(
      core.terms, [](const ir::LinearTerm& t) { return t.atom->op == ir::Op::Range && !may_be_empty(t.atom); });
  return ranges ? std::optional(Bound{core, lo, hi}) : std::nullopt;
}

/// Of all combinations of values of the ranges of some bounds, the share in which all bounds hold. 1 if there are too
/// many.
double open_share(const std::vector<Bound>& bounds) {
  std::vector<UOp> ranges;
  for (const Bound& b : bounds)
    for (const ir::LinearTerm& t : b.sum.terms)
      if (!ir::contains(ranges, t.atom)) ranges.push_back(t.atom);
  int64_t all = 1, open = 0;
  for (UOp r : ranges)
    if ((all *= max_trip_count(r)) > kMaxValues) return 1;
  for (int64_t i = 0; i < all; ++i) {
    std::map<ir::Node*, int64_t> values;
    int64_t left = i;
    for (UOp r : ranges) {
      values[r.get()] = left % max_trip_count(r);
      left /= max_trip_count(r);
    }
    open += std::ranges::all_of(bounds, [&](const Bound& b) {
      int64_t sum = b.sum.constant;
      for (const ir::LinearTerm& t : b.sum.terms) sum += t.factor * values.at(t.atom.get());
      return b.lo <= sum && sum <= b.hi;
    });
  }
  return static_cast<double>(open) / static_cast<double>(all);
}

}  // namespace

OpenSteps open_steps(const Statement& s, const std::vector<ThreadLoop>& loops, const LoopSchedule& schedule) {
  OpenSteps open;
  if (!s.is_reduce() || s.node->reduction().tree.lanes > 1 || s.node->reduction().tree.mma) return open;
  const UOp predicate = common_predicate(s.node);
  if (!predicate) return open;
  std::vector<Bound> known;  // in each copy
  bool lanes = false;
  for (UOp condition : ir::operands_of(predicate, ir::Op::And)) {
    const std::optional<Bound> bound = bound_of(condition);
    if (!bound) return open;
    bool numbers = true, copies = false, loop = false;
    for (const ir::LinearTerm& t : bound->sum.terms) {
      const LoopAxis& axis = schedule.of(t.atom);
      numbers &= axis.whole();
      for (const ThreadLoop& l : loops) {
        if (!(l.range == t.atom)) continue;
        loop = true;
        numbers &= l.digits.empty() && (l.iterations == 1 || !axis.cuts.empty());
        copies |= l.copies > 1;
        lanes |= l.lanes > 1;
      }
    }
    if (numbers)
      known.push_back(*bound);
    else if (copies || !loop)
      return open;
  }
  for (UOp n : ir::topological(predicate)) open.decided.insert(n.get());
  for (UOp v : values_of(s.node))
    if (v->op == ir::Op::Where) open.decided.insert(v.get());
  if (!known.empty() && !lanes) open.copies = open_share(known);  // of a vector all lanes stay
  return open;
}

}  // namespace sinter::codegen
