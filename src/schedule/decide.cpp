// Liveness (SEMANTICS V3, V4) and the order of the interpreted plan.
#include "schedule/decide.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

#include "sinter/error.h"
#include "uop/mutant.h"

namespace sinter::schedule {
namespace {

using ir::Op;

/// So cheap that a later plan computes it again rather than this one storing it.
bool is_cheap(Op op) {
  if (ir::is_movement(op) || op == Op::Detach || op == Op::Const || op == Op::Arange || op == Op::Var || op == Op::Num)
    return true;
  switch (op) {
    case Op::Sqrt:
    case Op::Div:
    case Op::IDiv:
    case Op::Mod: return false;
    default: return ir::is_alu(op) && !ir::has(op, ir::kExpanded);
  }
}

/// Evaluated once and kept for the rest of the plan.
bool is_heavy(Op op) { return op == Op::Reduce || op == Op::Gather || op == Op::ScatterAdd; }

void find_stored(const Collected& plan, Liveness& d) {
  for (size_t i = 0; i < plan.positions.size();
       ++i) {  // sources first: a value left lazy keeps nothing alive that would have died
    const Position& p = plan.positions[i];
    if (p.slot >= 0) continue;
    bool near = is_cheap(p.node->op);
    for (Operand s : plan.sources_of(p)) {
      if (!near) break;
      if (s.constant()) continue;
      const Position& q = plan.positions[s.position()];
      near = q.node->op == Op::Num || ((q.slot >= 0 || d.stored[s.position()]) && (q.outlives || q.root));
    }
    d.stored[i] = p.root || (p.outlives && !near);
  }
}

/// Which positions live on after the plan, themselves or as sources of something that does with its history (H3).
std::vector<uint8_t> find_kept(const Collected& plan, const Liveness& d) {
  const size_t n = plan.positions.size();
  std::vector<uint8_t> kept(n), walks(n), value(n);
  size_t edge = plan.history.size();
  for (size_t i = n; i-- > 0;) {  // consumers first
    const Position& p = plan.positions[i];
    kept[i] |= p.outlives;
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
    if (value[i] && !d.stored[i] && !ir::is_mutant(ir::Mutant::ValueNotKept)) {
      for (Operand s : plan.sources_of(p))  // a gradient will compute it again
        if (!s.constant()) kept[s.position()] = value[s.position()] = true;
    }
  }
  return kept;
}

using ReadList = std::shared_ptr<const std::vector<int32_t>>;

/// The union of two sorted lists; one of them where it holds the other.
ReadList united(const ReadList& a, const ReadList& b) {
  if (!a || !b || a == b) return a ? a : b;
  if (std::includes(a->begin(), a->end(), b->begin(), b->end())) return a;
  if (std::includes(b->begin(), b->end(), a->begin(), a->end())) return b;
  auto both = std::make_shared<std::vector<int32_t>>();
  std::set_union(a->begin(), a->end(), b->begin(), b->end(), std::back_inserter(*both));
  return both;
}

}  // namespace

Liveness decide(const Collected& plan) {
  const size_t n = plan.positions.size();
  Liveness d;
  d.stored.assign(n, 0);
  d.in_place.assign(n, -1);
  find_stored(plan, d);

  d.needed = d.stored;
  for (size_t i = n; i-- > 0;)
    if (d.needed[i])
      for (Operand s : plan.sources_of(plan.positions[i]))
        if (!s.constant()) d.needed[s.position()] = true;

  const std::vector<uint8_t> kept = find_kept(plan, d);
  std::vector<uint8_t> taken(plan.storages.size());
  for (size_t i = 0; i < n; ++i)
    if (const int32_t slot = plan.positions[i].slot;
        slot >= 0 && kept[i] && !ir::is_mutant(ir::Mutant::InPlaceUnderKeptReader))
      taken[static_cast<size_t>(slot)] = true;
  for (size_t i = n; i-- > 0;) {  // the last version first; a storage is written once per plan
    const int32_t home = plan.positions[i].home;
    if (!d.stored[i] || home < 0) continue;
    const auto h = static_cast<size_t>(home);
    if (!plan.storages[h].writable() || taken[h]) continue;
    d.in_place[i] = home;
    taken[h] = !ir::is_mutant(ir::Mutant::StorageWrittenTwice);
  }
  return d;
}

std::vector<EvalStep> order_steps(const Collected& plan, Liveness& d) {
  const size_t n = plan.positions.size();
  std::vector<uint8_t> once(n);
  for (size_t i = 0; i < n; ++i) {
    const Position& p = plan.positions[i];
    once[i] = p.slot < 0 && d.needed[i] && (d.stored[i] || is_heavy(p.node->op));
  }

  // What a position reads: steps by position, storages by ~slot. Positions evaluated inside their users pass on what
  // they read; most share one list with a source.
  using Reads = std::vector<int32_t>;
  std::vector<ReadList> through(n);
  std::vector<std::vector<int32_t>> users(n), readers(plan.storages.size());
  std::vector<int32_t> waits(n);  // open predecessors of a step
  for (size_t i = 0; i < n; ++i) {
    const Position& p = plan.positions[i];
    if (p.slot >= 0) {
      through[i] = std::make_shared<const Reads>(Reads{~p.slot});
      continue;
    }
    if (!d.needed[i]) continue;
    for (Operand s : plan.sources_of(p))
      if (!s.constant()) through[i] = united(through[i], through[s.position()]);
    if (!once[i]) continue;
    if (through[i]) {
      for (int32_t r : *through[i]) {
        (r < 0 ? readers[static_cast<size_t>(~r)] : users[static_cast<size_t>(r)]).push_back(static_cast<int32_t>(i));
        waits[i] += r >= 0;
      }
    }
    through[i] = std::make_shared<const Reads>(Reads{static_cast<int32_t>(i)});
  }

  // Readers of a storage come before the store into it.
  std::vector<std::vector<int32_t>> writer(n);  // of a reader: stores that wait for it
  std::vector<int32_t> held(n);                 // of a store: readers it waits for
  for (size_t i = 0; i < n; ++i) {
    if (d.in_place[i] < 0 || ir::is_mutant(ir::Mutant::NoReaderOrder)) continue;
    for (int32_t r : readers[static_cast<size_t>(d.in_place[i])]) {
      if (r == static_cast<int32_t>(i)) continue;
      writer[static_cast<size_t>(r)].push_back(static_cast<int32_t>(i));
      ++held[i];
    }
  }

  std::set<int32_t> ready, blocked;  // blocked: only readers are missing
  size_t left = 0;
  for (size_t i = 0; i < n; ++i) {
    if (!once[i]) continue;
    ++left;
    if (waits[i] == 0) (held[i] ? blocked : ready).insert(static_cast<int32_t>(i));
  }
  std::vector<EvalStep> steps;
  steps.reserve(left);
  while (left > 0) {
    if (ready.empty()) {  // stores wait for each other: the first takes new storage
      if (blocked.empty() || ir::is_mutant(ir::Mutant::CirclesNotCut))
        throw InternalError("ordering a plan: its stores wait for each other");
      const int32_t cut = *blocked.begin();
      blocked.erase(blocked.begin());
      d.in_place[static_cast<size_t>(cut)] = -1;
      held[static_cast<size_t>(cut)] = 0;
      ready.insert(cut);
    }
    const auto i = static_cast<size_t>(*ready.begin());
    ready.erase(ready.begin());
    --left;
    steps.push_back({static_cast<int32_t>(i), d.in_place[i] >= 0 ? EvalStep::InPlace
                                              : d.stored[i]      ? EvalStep::Fresh
                                                                 : EvalStep::Scratch});
    for (int32_t u : users[i])
      if (--waits[static_cast<size_t>(u)] == 0) (held[static_cast<size_t>(u)] > 0 ? blocked : ready).insert(u);
    for (int32_t w : writer[i]) {
      int32_t& h = held[static_cast<size_t>(w)];
      if (h > 0 && --h == 0 && blocked.erase(w)) ready.insert(w);
    }
  }
  return steps;
}

}  // namespace sinter::schedule
