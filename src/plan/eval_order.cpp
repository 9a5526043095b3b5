// Topological order of stores and expensive values, with readers of a storage before the store into it.
#include "plan/eval_order.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

#include "sinter/error.h"

namespace sinter::plan {
namespace {

using ir::Op;

/// Evaluated once, into scratch that lives to the end of the plan.
bool is_heavy(Op op) {
  return op == Op::Reduce || op == Op::Scan || op == Op::Gather || op == Op::Scatter || op == Op::Sort ||
         op == Op::Lapack;
}

using ReadList = std::shared_ptr<const std::vector<int32_t>>;

/// The union of two sorted lists, without a copy if one contains the other.
ReadList united(const ReadList& a, const ReadList& b) {
  if (!a || !b || a == b) return a ? a : b;
  if (std::includes(a->begin(), a->end(), b->begin(), b->end())) return a;
  if (std::includes(b->begin(), b->end(), a->begin(), a->end())) return b;
  auto both = std::make_shared<std::vector<int32_t>>();
  std::set_union(a->begin(), a->end(), b->begin(), b->end(), std::back_inserter(*both));
  return both;
}

}  // namespace

std::vector<EvalStep> order_steps(const CanonicalProgram& plan, Materialization& d) {
  const size_t n = plan.positions.size();
  std::vector<uint8_t> once(n);
  for (size_t i = 0; i < n; ++i) {
    const Position& p = plan.positions[i];
    once[i] = p.slot < 0 && d.needed[i] && (d.stored[i] || is_heavy(p.node->op));
  }

  // What a position reads: steps by position, storages by ~slot. Positions evaluated inside their users pass on their
  // reads; most share a list with a source.
  using Reads = std::vector<int32_t>;
  std::vector<ReadList> through(n);
  std::vector<std::vector<int32_t>> users(n), readers(plan.storages.size());
  std::vector<int32_t> waits(n);  // unfinished predecessors of a step
  for (size_t i = 0; i < n; ++i) {
    const Position& p = plan.positions[i];
    if (p.slot >= 0) {
      through[i] = std::make_shared<const Reads>(Reads{~p.slot});
      continue;
    }
    if (!d.needed[i]) continue;
    for (SourceRef s : plan.sources_of(p))
      if (!s.constant()) through[i] = united(through[i], through[s.position()]);
    if (!once[i]) continue;
    if (through[i]) {
      for (int32_t r : *through[i]) {
        (r < 0 ? readers[-1 - int64_t{r}] : users[r]).push_back(static_cast<int32_t>(i));
        waits[i] += r >= 0;
      }
    }
    through[i] = std::make_shared<const Reads>(Reads{static_cast<int32_t>(i)});
  }

  // Readers of a storage come before the store into it.
  std::vector<std::vector<int32_t>> writer(n);  // per reader: stores that wait for it
  std::vector<int32_t> held(n);                 // per store: readers it waits for
  for (size_t i = 0; i < n; ++i) {
    if (d.in_place[i] < 0) continue;
    for (int32_t r : readers[d.in_place[i]]) {
      if (r == static_cast<int32_t>(i)) continue;
      writer[r].push_back(static_cast<int32_t>(i));
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
    if (ready.empty()) {  // a cycle of stores: the first takes new storage
      if (blocked.empty()) throw InternalError("ordering a plan: its stores wait for each other");
      const int32_t cut = *blocked.begin();
      blocked.erase(blocked.begin());
      d.in_place[cut] = -1;
      held[cut] = 0;
      ready.insert(cut);
    }
    const auto i = static_cast<size_t>(*ready.begin());
    ready.erase(ready.begin());
    --left;
    steps.push_back({static_cast<int32_t>(i), d.in_place[i] >= 0 ? EvalStep::InPlace
                                              : d.stored[i]      ? EvalStep::Fresh
                                                                 : EvalStep::Scratch});
    for (int32_t u : users[i])
      if (--waits[u] == 0) (held[u] > 0 ? blocked : ready).insert(u);
    for (int32_t w : writer[i]) {
      int32_t& h = held[w];
      if (h > 0 && --h == 0 && blocked.erase(w)) ready.insert(w);
    }
  }
  return steps;
}

}  // namespace sinter::plan
