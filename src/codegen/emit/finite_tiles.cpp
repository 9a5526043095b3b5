#include "codegen/emit/finite_tiles.h"

#include <algorithm>

#include "codegen/kernel/access.h"
#include "codegen/kernel/common_predicate.h"

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

}  // namespace

FiniteTiles::FiniteTiles(const LoopSchedule& schedule, const Statements& statements, BlockWriter& emit)
    : schedule_(schedule), statements_(statements), emit_(emit) {
  for (const Statement& s : statements.list)
    if (s.is_reduce())
      for (UOp load : predicated_loads(s.node))
        if (const UOp other = factor_beside(s.node, load)) wanted_.insert(slot_of(other));
}

/// Whether no step of the loops has fewer lanes than the others.
bool FiniteTiles::has_whole_vectors(const Statement& fill) const {
  return std::ranges::all_of(fill.loops, [&](const LoopLevel& l) {
    const LoopAxis& axis = schedule_.of(l.range);
    return l.lanes == 1 || (axis.size && !axis.window && axis.size % l.lanes == 0 && axis.block % l.lanes == 0);
  });
}

bool FiniteTiles::begin(const LoopItem& loop, bool guarded) {
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
  int lanes = 1;
  for (const LoopLevel& l : fill.loops) lanes = std::max(lanes, l.lanes);
  const Id zero = emit_.zero(fill.node->src[0]->dtype, lanes);
  open_ = {slot, emit_.insert_here({InstCode::Accumulator, emit_.type(zero), {zero}, 1})};
  return true;
}

void FiniteTiles::add(const Statement& store, Id value) {
  if (open_.slot < 0 || slot_of(store.node) != open_.slot) return;
  const Type type = emit_.type(open_.sum);
  value = emit_.splat(value, type.lanes);
  const Id before = emit_.insert_here({InstCode::AccumulatorRead, type, {open_.sum}});
  const Id zero = emit_.alu(Op::Mul, type, {value, emit_.zero(type.dtype, type.lanes)});
  emit_.insert_here({InstCode::AccumulatorWrite, {}, {open_.sum, emit_.alu(Op::Add, type, {before, zero})}});
}

void FiniteTiles::end() {
  const Type type = emit_.type(open_.sum);
  const Id sum = emit_.join_lanes(Op::Add, emit_.insert_here({InstCode::AccumulatorRead, type, {open_.sum}}));
  finite_[open_.slot] = emit_.alu(Op::Eq, {DType::Bool, 1}, {sum, emit_.zero(type.dtype)});
  open_ = {};
}

Id FiniteTiles::finite(UOp load) const {
  const auto found = finite_.find(slot_of(load));
  return found == finite_.end() ? kNone : found->second;
}

}  // namespace sinter::codegen
