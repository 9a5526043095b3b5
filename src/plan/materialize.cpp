// Materialization (SEMANTICS V3, V4).
#include "plan/materialize.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/storage.h"
#include "schedule/graph/fusion_cost.h"

namespace sinter::plan {
namespace {

using ir::Op;

/// A leaf without memory: its attribute is its value.
bool is_given(Op op) { return op == Op::Const || op == Op::Arange || op == Op::Var || op == Op::Num; }

/// Whether products may round the value (Op::Tf32). Stored, it would be one that they may not.
bool is_mark(const Position& p) { return p.node->op == Op::Tf32; }

/// The value of its source: a whole version without a home, such as a clone, or a mark on it.
bool is_copy(const Position& p) {
  return p.node->op == Op::Custom || is_mark(p) || (p.node->op == Op::After && p.source_count == 1 && p.home < 0);
}

/// So cheap that a later plan recomputes it instead of loading it.
bool is_cheap(const Position& p) {
  const Op op = p.node->op;
  return ir::is_movement(op) || op == Op::Detach || is_given(op) || is_copy(p) ||
         (ir::is_alu(op) && schedule::weight_of(op) <= 1);
}

/// For lean plans: whether an unrequested value is smaller than the memory that it would keep alive if it stayed lazy.
/// Counts memory that the plan would otherwise free or overwrite; of several such storages, the largest.
class LazyFootprint {
 public:
  explicit LazyFootprint(const CanonicalProgram& plan)
      : plan_(plan), bytes_(plan.positions.size()), stays_(plan.storages.size()) {
    for (const Position& p : plan.positions)
      if (p.slot >= 0) stays_[p.slot] |= p.outlives;
  }
  /// Call in order of positions, once it is known whether position i is stored.
  void decided(size_t i, bool stored) {
    const Position& p = plan_.positions[i];
    if (p.slot >= 0) {
      const StorageUse& use = plan_.storages[p.slot];
      bytes_[i] = !stays_[p.slot] && use.writable() ? static_cast<int64_t>(use.storage->bytes()) : 0;
    } else if (stored) {
      bytes_[i] = p.outlives ? 0 : schedule::bytes_of(p.node);
    } else {
      bytes_[i] = behind(i);
    }
  }
  /// Whether position i is smaller than the memory behind it. Its sources must be decided.
  bool smaller(size_t i) const { return schedule::bytes_of(plan_.positions[i].node) < behind(i); }

 private:
  int64_t behind(size_t i) const {
    int64_t most = 0;
    for (SourceRef s : plan_.sources_of(plan_.positions[i]))
      if (!s.constant()) most = std::max(most, bytes_[s.position()]);
    return most;
  }

  const CanonicalProgram& plan_;
  std::vector<int64_t> bytes_;  ///< per position
  std::vector<uint8_t> stays_;  ///< per storage
};

/// Sources first. A value left lazy keeps no memory alive that would have been freed. The exception is the base of a
/// view: if the view is larger, or a mark, the base is stored and the view stays lazy. In a lean plan a value may stay
/// lazy if it is larger than the memory it keeps alive.
void find_stored(const CanonicalProgram& plan, Materialization& d) {
  // Per position, the base it is a view of: behind all movement ops, up to the first stored value.
  std::vector<size_t> base(plan.positions.size());
  // `given`: computed from leaves without memory by movement and casts alone, so that recomputing it needs no memory. A
  // stored value is not.
  std::vector<uint8_t> given(plan.positions.size()), viewed(plan.positions.size());
  std::optional<LazyFootprint> held;
  if (plan.lean) held.emplace(plan);
  for (size_t i = 0; i < plan.positions.size(); ++i) {
    const Position& p = plan.positions[i];
    base[i] = i;
    if (p.slot >= 0) {
      if (held) held->decided(i, false);
      continue;
    }
    const bool moves = ir::is_movement(p.node->op);
    given[i] = is_given(p.node->op);
    const bool copies = is_copy(p);
    if (moves || copies || p.node->op == Op::Cast) {
      const SourceRef source = plan.sources_of(p)[0];
      given[i] = source.constant() || given[source.position()];
      if ((moves || copies) && !source.constant()) base[i] = base[source.position()];
    }
    if (p.outlives && !p.root && (moves || is_mark(p))) {
      const Position& q = plan.positions[base[i]];
      const bool smaller = !given[base[i]] && (is_mark(p) || q.node->shape.bound() < p.node->shape.bound());
      if (q.slot < 0 && smaller && (!held || held->smaller(base[i]))) d.stored[base[i]] = true;
      viewed[base[i]] |= d.stored[base[i]];
    }
    bool near = is_cheap(p);
    for (SourceRef s : plan.sources_of(p)) {
      if (!near) break;
      if (s.constant()) continue;
      const size_t from = base[s.position()];
      const Position& q = plan.positions[from];
      near = given[from] || ((q.slot >= 0 || d.stored[from]) && (q.outlives || q.root || viewed[from]));
    }
    d.stored[i] = d.stored[i] || p.root || (p.outlives && !near && (!held || held->smaller(i)));
    if (d.stored[i]) base[i] = i, given[i] = false;
    if (held) held->decided(i, d.stored[i]);
  }
}

/// The positions that live on after the plan, directly or as sources of something that lives on with its history (H3).
std::vector<uint8_t> find_kept(const CanonicalProgram& plan, const Materialization& d) {
  const size_t n = plan.positions.size();
  std::vector<uint8_t> kept(n), walks(n), value(n);
  size_t edge = plan.history.size();
  for (size_t i = n; i-- > 0;) {  // consumers first
    const Position& p = plan.positions[i];
    kept[i] |= p.outlives;
    value[i] |= p.outlives;
    size_t end = edge;
    while (edge > 0 && plan.history[edge - 1].position == static_cast<int32_t>(i)) --edge;
    if (p.slot >= 0) continue;
    if (walks[i] || p.backs_outside) {
      for (size_t e = edge; e < end; ++e) {
        const HistoryEdge& h = plan.history[e];
        const auto s = static_cast<size_t>(h.source);
        kept[s] = true;
        walks[s] |= h.backing == Backing::History;
        value[s] |= h.backing == Backing::Value;
      }
    }
    if (value[i] && !d.stored[i]) {
      for (SourceRef s : plan.sources_of(p))  // a gradient, or a reader, will recompute it
        if (!s.constant()) kept[s.position()] = value[s.position()] = true;
    }
  }
  return kept;
}

}  // namespace

Materialization materialize(const CanonicalProgram& plan) {
  const size_t n = plan.positions.size();
  Materialization d;
  d.stored.assign(n, 0);
  d.in_place.assign(n, -1);
  find_stored(plan, d);

  d.needed = d.stored;
  for (size_t i = n; i-- > 0;)
    if (d.needed[i])
      for (SourceRef s : plan.sources_of(plan.positions[i]))
        if (!s.constant()) d.needed[s.position()] = true;

  const std::vector<uint8_t> kept = find_kept(plan, d);
  std::vector<uint8_t> taken(plan.storages.size());
  for (size_t i = 0; i < n; ++i)
    if (const int32_t slot = plan.positions[i].slot; slot >= 0 && kept[i]) taken[slot] = true;
  for (size_t i = n; i-- > 0;) {  // the last version first; a storage is written once per plan
    const int32_t home = plan.positions[i].home;
    if (!d.stored[i] || home < 0) continue;
    const auto h = static_cast<size_t>(home);
    const StorageUse& use = plan.storages[h];  // in the shape of the Param
    if (!use.writable() || taken[h] || !(use.node->shape == plan.positions[i].node->shape)) continue;
    d.in_place[i] = home;
    taken[h] = true;
  }
  return d;
}

bool has_spare_stores(CanonicalProgram plan, const Materialization& d) {
  if (std::exchange(plan.lean, true)) return false;
  return materialize(plan).stored != d.stored;
}

}  // namespace sinter::plan
