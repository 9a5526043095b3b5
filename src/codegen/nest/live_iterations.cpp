#include "codegen/nest/live_iterations.h"

#include <algorithm>
#include <map>

#include "codegen/kernel/common_predicate.h"
#include "ir/build.h"
#include "ir/ceil_div.h"
#include "ir/combine.h"
#include "ir/contains.h"
#include "ir/rebuild.h"
#include "ir/scalar_eval.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

/// The condition where whose opposite a step of a tensor core adds nothing, or each value of an ExpSum is the identity;
/// null if there is none.
UOp condition_of(const Statement& s) {
  if (s.is_reduce() && s.node->reduction().tree.mma && !s.carried()) return common_predicate(s.node);
  if (!s.is_reduce() || s.node->reduction().combine != ir::Combine::ExpSum || s.carried()) return {};
  if (s.node->reduction().tree.lanes > 1) return {};
  UOp condition;
  const std::vector<UOp> values = values_of(s.node);
  for (size_t k = 0; k < values.size(); ++k) {
    const UOp v = values[k];
    if (v->op != Op::Where || v->src[2]->op != Op::Const || (condition && !(v->src[0] == condition))) return {};
    const ir::Scalar identity = ir::reduction_identity(ir::Combine::ExpSum, v->dtype, static_cast<int>(k));
    if (ir::to_bits(v->dtype, v->src[2]->scalar()) != ir::to_bits(v->dtype, identity)) return {};
    condition = v->src[0];
  }
  return condition;
}

bool is_outermost(const LoopLevel& l) { return l.number == 0 && !l.fills && !l.straight && !is_outer(l.range); }

/// Whether n is made of what live_bounds() may give. Recursion depth: that of the index.
bool has_extremes(UOp n) {
  switch (n->op) {
    case Op::Const: return true;
    case Op::Range: return is_outer(n);
    case Op::Neg:
    case Op::Add:
    case Op::Sub: return std::ranges::all_of(n->src, has_extremes);
    case Op::Mul: return n->src[1]->op == Op::Const && has_extremes(n->src[0]);
    case Op::IDiv: return n->src[1]->op == Op::Const && n->src[1]->scalar().as_int() > 0 && has_extremes(n->src[0]);
    default: return false;
  }
}

/// The condition with quotients of indices, which legalize() computes as those of unsigned integers that hold them.
UOp with_index_quotients(UOp condition) {
  const auto index_of = [](UOp n) {
    if (n->op == Op::Cast && n->src[0]->dtype == DType::Index) return n->src[0];
    return n->op == Op::Const ? ir::constant(*n->graph, DType::Index, n->scalar().as_int()) : UOp();
  };
  return ir::rebuild(*condition->graph, condition, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (n->op != Op::Cast || n->dtype != DType::Index || src[0]->op != Op::IDiv) return {};
    if (src[0]->dtype != DType::U32 && src[0]->dtype != DType::U64) return {};
    const UOp a = index_of(src[0]->src[0]), b = index_of(src[0]->src[1]);
    return a && b ? ir::idiv(a, b) : UOp();
  });
}

}  // namespace

void find_live_iterations(Statements& statements) {
  std::map<ir::Node*, UOp> conditions;  // by range; null: each iteration counts
  for (const Statement& s : statements.list) {
    const std::vector<UOp> own = has_accumulators(s.node) ? ranges_of(s.node) : std::vector<UOp>{};
    const UOp condition = condition_of(s);
    for (const LoopLevel& l : s.loops) {
      if (!is_outermost(l)) continue;
      const bool closes = ir::contains(own, l.range);
      const bool stays =
          s.is_reduce() || std::ranges::any_of(statements.tiles, [&](const Tile& t) { return t.fill == s.node; });
      if (!closes && stays) continue;  // its users are in the loop
      const auto [it, fresh] = conditions.try_emplace(l.range.get(), closes ? condition : UOp());
      if (!fresh && !(closes && it->second == condition)) it->second = {};
    }
  }
  for (Statement& s : statements.list)
    for (LoopLevel& l : s.loops)
      if (const auto it = conditions.find(l.range.get()); is_outermost(l) && it != conditions.end())
        l.live = it->second;
}

LoopBounds live_bounds(const LoopLevel& level) {
  return level.live ? solve_bounds(with_index_quotients(level.live), level.range, has_extremes) : LoopBounds{};
}

double live_share(const LoopLevel& level, const LoopSchedule& schedule) {
  const LoopBounds bounds = live_bounds(level);
  std::vector<UOp> both = bounds.from;
  both.insert(both.end(), bounds.to.begin(), bounds.to.end());
  UOp rows;
  for (UOp n : ir::topological(both))
    if (n->op == Op::Range) {
      if (rows && !(n == rows)) return 1;
      rows = n;
    }
  if (!rows || !(rows->src[0]->op == Op::Const)) return 1;
  // A bound grows or falls with the row, so its extremes are at the ends of a block.
  const auto at = [&](UOp bound, int64_t row) {
    std::map<ir::Node*, ir::Scalar> made;
    for (UOp n : ir::topological(bound)) {
      if (n->op == Op::Const || n->op == Op::Range) {
        made[n.get()] = n->op == Op::Const ? n->scalar() : ir::Scalar::of(n->dtype, row);
        continue;
      }
      std::vector<ir::Scalar> src = ir::mapped(n->src, [&](UOp s) { return made.at(s.get()); });
      made[n.get()] = ir::evaluate(n->op, n->dtype, src);
    }
    return made.at(bound.get()).as_int();
  };
  constexpr int64_t kMaxBlocks = 32;
  const int64_t size = max_trip_count(rows), block = schedule.of(rows).block, all = max_trip_count(level.range);
  const LoopAxis& axis = schedule.of(level.range);
  const int64_t step = axis.levels() > 1 ? axis.steps[0] : 1;
  const int64_t blocks = ceil_div(size, block), stride = ceil_div(blocks, kMaxBlocks);
  double live = 0, counted = 0;
  for (int64_t b = stride / 2; b < blocks; b += stride) {
    const int64_t first = b * block, last = std::min(size, first + block) - 1;
    int64_t from = 0, to = all;
    for (UOp x : bounds.from) from = std::max(from, std::min(at(x, first), at(x, last)));
    for (UOp x : bounds.to) to = std::min(to, std::max(at(x, first), at(x, last)));
    live += static_cast<double>(std::max<int64_t>(0, ceil_div(to, step) - from / step));
    counted += static_cast<double>(ceil_div(all, step));
  }
  return live / counted;
}

}  // namespace sinter::codegen
