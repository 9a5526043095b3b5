#include "codegen/emit/finite_factors.h"

#include <algorithm>

#include "codegen/kernel/access.h"
#include "codegen/kernel/common_predicate.h"
#include "ir/contains.h"

namespace sinter::codegen {
namespace {

/// The STOREs of a loop; -1 among them for any other leaf, and for what may not run.
void find_leaves(const LoopItem& loop, std::set<int>& leaves) {
  if (loop.level.guard >= 0) leaves.insert(-1);
  for (const LoopItem& item : loop.body) {
    if (item.kind == LoopItem::ItemKind::Loop)
      find_leaves(item, leaves);
    else
      leaves.insert(item.kind == LoopItem::ItemKind::Store ? item.statement : -1);
  }
}

/// Accumulators of a tensor, which hide the latency of an addition.
constexpr int64_t kChains = 4;

/// Results that use each element of a tensor that is looked at, at least, for each part of a launch: all look.
constexpr int64_t kMinUses = 64;

int lanes_of(const Statement& s) {
  int lanes = 1;
  for (const LoopLevel& l : s.loops) lanes = std::max(lanes, l.lanes);
  return lanes;
}

}  // namespace

bool is_looked_at(UOp factor, std::span<const UOp> outer, int lanes, FreeRanges& ranges,
                  const runtime::Target& target) {
  if (factor->op != Op::Load || predicate_of(factor) || factor->dtype != DType::F32) return false;
  const UOp param = factor->src[0];
  if (param->op != Op::Param || param->shape.symbolic() || param->shape.numel() < lanes * kChains) return false;
  const int64_t wanted = kMinUses * target.parallel_units;
  int64_t uses = 1;
  for (UOp r : outer)
    if (!ranges.depends(factor, r)) uses = std::min(uses * max_trip_count(r), wanted);
  return uses >= wanted;
}

UOp factor_beside_zeros(const Statement& sum, const Statements& statements, FreeRanges& ranges) {
  if (!sum.is_reduce() || sum.carried() || sum.node->dtype != DType::F32 || sum.node->reduction().tree.lanes > 1)
    return {};
  const UOp predicate = common_predicate(sum.node);
  if (!predicate ||
      std::ranges::none_of(ranges_of(sum.node), [&](UOp own) { return ranges.depends(predicate, own); }) ||
      std::ranges::none_of(sum.loops,
                           [&](const LoopLevel& l) { return l.lanes > 1 && ranges.depends(predicate, l.range); }))
    return {};
  const std::vector<UOp> factors = open_factors(sum.node);
  if (factors.size() != 2) return {};
  const auto tile_of = [&](UOp factor) {
    return factor->op == Op::Load ? std::ranges::find(statements.tiles, slot_of(factor), &Tile::slot)
                                  : statements.tiles.end();
  };
  for (const int at : {0, 1}) {
    const UOp other = factors[1 - at];
    if (const auto tile = tile_of(factors[at]); tile != statements.tiles.end() && tile->zeros == predicate &&
                                                tile_of(other) == statements.tiles.end() && other->op == Op::Load)
      return other;
  }
  return {};
}

FiniteFactors::FiniteFactors(const LoopSchedule& schedule, const Statements& statements, const runtime::Target& target,
                             FreeRanges& ranges, BlockWriter& emit)
    : schedule_(schedule), statements_(statements), target_(target), ranges_(ranges), emit_(emit) {
  for (const Statement& s : statements.list)
    if (s.is_reduce())
      for (UOp load : predicated_loads(s.node))
        if (const UOp other = factor_beside(s.node, load)) wanted_.insert(slot_of(other));
}

/// Whether no step of the loops has fewer lanes than the others.
bool FiniteFactors::has_whole_vectors(const Statement& fill) const {
  return std::ranges::all_of(fill.loops, [&](const LoopLevel& l) {
    const LoopAxis& axis = schedule_.of(l.range);
    return l.lanes == 1 ||
           (axis.size && !axis.window && !l.joined_values && axis.size % l.lanes == 0 && axis.block % l.lanes == 0);
  });
}

bool FiniteFactors::begin(const LoopItem& loop, bool guarded) {
  if (open_.slot >= 0 || loop.kind != LoopItem::ItemKind::Loop) return false;
  std::set<int> leaves;
  find_leaves(loop, leaves);
  for (const int leaf : leaves)
    if (guarded && leaf >= 0) wanted_.erase(slot_of(statements_.list[leaf].node));
  if (leaves.size() != 1 || *leaves.begin() < 0) return false;
  const Statement& fill = statements_.list[*leaves.begin()];
  const int64_t slot = slot_of(fill.node);
  const auto fills = [&](const Tile& t) { return t.slot == slot && t.fill == fill.node; };
  if (!wanted_.contains(slot) || fill.guard >= 0 || std::ranges::none_of(statements_.tiles, fills) ||
      !has_whole_vectors(fill))
    return false;
  const Id zero = emit_.zero(fill.node->src[0]->dtype, lanes_of(fill));
  open_ = {slot, emit_.insert_here({InstCode::Accumulator, emit_.type(zero), {zero}, 1})};
  return true;
}

void FiniteFactors::add(const Statement& store, Id value) {
  if (open_.slot < 0 || slot_of(store.node) != open_.slot) return;
  add_to(open_.sum, value);
}

void FiniteFactors::add_to(Id sum, Id value) {
  const Type type = emit_.type(sum);
  value = emit_.splat(value, type.lanes);
  const Id before = emit_.insert_here({InstCode::AccumulatorRead, type, {sum}});
  const Id zero = emit_.alu(Op::Mul, type, {value, emit_.zero(type.dtype, type.lanes)});
  emit_.insert_here({InstCode::AccumulatorWrite, {}, {sum, emit_.alu(Op::Add, type, {before, zero})}});
}

Id FiniteFactors::is_zero(Id sum) {
  const Type type = emit_.type(sum);
  const Id all = emit_.join_lanes(Op::Add, emit_.insert_here({InstCode::AccumulatorRead, type, {sum}}));
  return emit_.alu(Op::Eq, {DType::Bool, 1}, {all, emit_.zero(type.dtype)});
}

void FiniteFactors::look_at_tensors() {
  for (const Statement& s : statements_.list)
    if (const UOp factor = factor_beside_zeros(s, statements_, ranges_);
        factor && is_looked_at(factor, schedule_.outer, lanes_of(s), ranges_, target_) &&
        !finite_.contains(slot_of(factor)) && !ir::contains(statements_.read_write_slots, slot_of(factor)))
      look_at(factor->src[0], lanes_of(s));
}

void FiniteFactors::look_at(UOp param, int lanes) {
  const int64_t elements = param->shape.numel(), width = lanes * kChains;
  const Type type{param->dtype, lanes};
  std::vector<Id> sums;
  for (int64_t i = 0; i < kChains; ++i)
    sums.push_back(emit_.insert_here({InstCode::Accumulator, type, {emit_.zero(type.dtype, lanes)}, 1}));
  const auto add = [&](Id begin) {
    for (int64_t i = 0; i < kChains; ++i) {
      const Id at = emit_.index(Op::Add, begin, emit_.number(i * lanes));
      add_to(sums[i], emit_.insert_here({InstCode::Load, type, {at}, param->integer()}));
    }
  };
  add(emit_.open_loop(emit_.number(0), emit_.number(elements / width * width), width, "whether all are finite"));
  emit_.close();
  if (elements % width) add(emit_.number(elements - width));  // some of them twice
  Id finite = kNone;
  for (const Id sum : sums) finite = emit_.both(finite, is_zero(sum));
  finite_[param->integer()] = finite;
}

void FiniteFactors::end() {
  finite_[open_.slot] = is_zero(open_.sum);
  open_ = {};
}

Id FiniteFactors::finite(UOp load) const {
  const auto found = finite_.find(slot_of(load));
  return found == finite_.end() ? kNone : found->second;
}

}  // namespace sinter::codegen
