// Unroll factors of a store of carried reductions, and the order of its loops.
#include "codegen/nest/carried_stores.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "codegen/kernel/access.h"
#include "codegen/kernel/offset.h"
#include "ir/walk.h"

namespace sinter::codegen {

namespace {

constexpr int kVectors = 2;    ///< vectors along one range in one iteration, at most
constexpr int kMaxCopies = 8;  ///< elements of a row that are stored together: at most
constexpr int kMinCopies = 4;  ///< and at least

/// The new loop width must divide the old one, since blocks are multiples of that.
int store_unroll(int copies) { return copies % kVectors == 0 ? kVectors : 1; }

bool is_contiguous(const std::vector<UOp>& body, UOp range) {
  return std::ranges::any_of(
      body, [&](UOp n) { return (n->op == Op::Load || n->op == Op::Store) && offset_of(n).factor(range) == 1; });
}

/// Whether a loop can have this many unrolled copies: they divide its block, or the block is the whole range.
bool divides(int copies, const LoopLevel& l, const LoopAxis& a) {
  if (l.fills || l.threaded() || a.size == 0 || l.number + 1 != a.levels()) return false;
  const int64_t block = !a.steps.empty() ? a.steps.back() : a.outer() ? a.block : a.size;
  return block % copies == 0 || block >= a.size;
}

bool reads_tile(const std::vector<UOp>& body, const Tile& tile) {
  return std::ranges::any_of(body, [&](UOp n) { return n->op == Op::Load && slot_of(n) == tile.slot; });
}

/// Whether the unrolled copies of every tile element that the body reads lie in one panel, so that one access reads
/// them.
bool fit_panels(int copies, UOp range, const std::vector<UOp>& body, const std::vector<Tile>& tiles) {
  return std::ranges::none_of(tiles, [&](const Tile& t) {
    return t.tile_copy && t.tile_copy->panel % copies != 0 && t.dims.back().range == range && reads_tile(body, t);
  });
}

bool bound_by_others(UOp range) {
  const std::vector<UOp> bound = ir::topological(range->src[0]);
  return std::ranges::any_of(bound, [](UOp n) { return n->op == Op::Range; });
}

/// Sorts loops by decreasing stride of the store, so that each cache line is complete before the next one begins. Left
/// alone if other loops rely on the order: a copied tile is filled in each iteration of one of them, or a bound depends
/// on another range.
void sort_loops_by_stride(Statement& store, size_t shared, const ir::LinearExpr& place, bool reads_tile_copy) {
  const auto first = store.loops.begin() + static_cast<std::ptrdiff_t>(shared);
  const auto distance = [&](const LoopLevel& l) { return std::abs(place.factor(l.range)); };
  const auto stays = [&](const LoopLevel& l) {
    return distance(l) == 0 || l.threaded() || l.fills || bound_by_others(l.range);
  };
  if (reads_tile_copy || std::any_of(first, store.loops.end(), stays)) return;
  const auto key = [&](const LoopLevel& l) { return std::tuple(-distance(l), range_id(l.range), l.number); };
  std::sort(first, store.loops.end(), [&](const LoopLevel& a, const LoopLevel& b) { return key(a) < key(b); });
}

}  // namespace

void choose_store_loops(Statement& store, const Statements& made, const LoopSchedule& schedule) {
  size_t shared = 0;  // loops around all of the store
  bool reads = false;
  for (const Dependence& d : store.deps) {
    if (d.reason != Dependence::Reason::Value) continue;
    const Statement& sum = made.list[d.on];
    if (!sum.carried()) return;
    reads = true;
    shared = std::max(shared, sum.own_depth);
  }
  if (!reads) return;
  const std::vector<UOp> body = body_of(store.node);
  const ir::LinearExpr place = offset_of(store.node);
  const bool plain = store.node->integer() == 0 && !predicate_of(store.node) && schedule.materializations.empty();
  const bool apart = plain && std::ranges::any_of(store.loops, [&](const LoopLevel& l) {
                       return l.lanes > 1 && place.factor(l.range) != 1;
                     });
  for (size_t i = shared; i < store.loops.size(); ++i) {
    LoopLevel& l = store.loops[i];
    if (!is_contiguous(body, l.range))
      l.unroll = 1, l.distance = 1;
    else if (l.lanes > 1)
      l.unroll = store_unroll(l.unroll);
    else if (const LoopAxis& a = schedule.of(l.range); apart && l.unroll == 1 && place.factor(l.range) == 1)
      for (int copies = kMaxCopies; copies >= kMinCopies && l.unroll == 1; copies /= 2)
        if (copies <= a.size && divides(copies, l, a) && fit_panels(copies, l.range, body, made.tiles))
          l.unroll = copies;
  }
  const bool reads_tile_copy =
      std::ranges::any_of(made.tiles, [&](const Tile& t) { return t.tile_copy && reads_tile(body, t); });
  if (apart) sort_loops_by_stride(store, shared, place, reads_tile_copy);
}

}  // namespace sinter::codegen
