// Order edges, and the proof after the partition.
#include "schedule/fusion/hazards.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "sinter/error.h"

namespace sinter::schedule {
namespace {

bool is_buffer(const StageGraph& g, int stage) {
  return stage >= 0 && g.stages[static_cast<size_t>(stage)].kind == StageKind::Buffer;
}
int slot_of(const StageGraph& g, int stage) {
  return static_cast<int>(g.stages[static_cast<size_t>(stage)].node->integer());
}

void take_new_storage(StageGraph& g, int stage, std::vector<int>* lost = nullptr) {
  for (int o : g.stages[static_cast<size_t>(stage)].outputs) {
    int& home = g.homes[static_cast<size_t>(o)];
    if (home >= 0 && lost) lost->push_back(o);
    home = -1;
  }
}

/// Runs all stages on paper, sources first; whoever blocks the rest loses its home.
std::vector<int> cut_circles(StageGraph& g) {
  const size_t n = g.stages.size();
  std::vector<int> lost, sources(n, 0), readers(n, 0), ready;
  std::vector<std::vector<int>> users(n);
  for (size_t i = 0; i < n; ++i) {
    for (const Source& s : g.stages[i].sources)
      if (s.stage >= 0) ++sources[i], users[static_cast<size_t>(s.stage)].push_back(static_cast<int>(i));
    for (int store : g.stages[i].before) ++readers[static_cast<size_t>(store)];
  }
  auto offer = [&](int s) {
    if (sources[static_cast<size_t>(s)] == 0 && readers[static_cast<size_t>(s)] == 0) ready.push_back(s);
  };
  for (size_t i = 0; i < n; ++i) offer(static_cast<int>(i));
  std::vector<char> done(n, 0);
  size_t finished = 0, blocked = 0;
  while (finished < n) {
    while (!ready.empty()) {
      const auto s = static_cast<size_t>(ready.back());
      ready.pop_back();
      done[s] = 1;
      ++finished;
      for (int u : users[s])
        if (--sources[static_cast<size_t>(u)] == 0) offer(u);
      for (int store : g.stages[s].before)
        if (--readers[static_cast<size_t>(store)] == 0) offer(store);
    }
    if (finished == n) break;
    // In a circle every stage waits; the first whose sources are there waits only for readers.
    while (done[blocked] || sources[blocked] > 0) ++blocked;
    const int store = static_cast<int>(blocked);
    take_new_storage(g, store, &lost);
    for (Stage& s : g.stages) std::erase(s.before, store);
    readers[blocked] = 0;
    ready.push_back(store);
    blocked = 0;
  }
  return lost;
}

bool is_late(const Kernel& k, int stage) { return std::binary_search(k.late.begin(), k.late.end(), stage); }

/// What a stage's value is made of inside the kernel when it is stored, from its sources number `first` on: members and
/// what they read. What sums across outer ranges are made of has been read by then.
std::unordered_set<int> made_of(const Partition& p, const Kernel& k, int stage, size_t first = 0) {
  std::unordered_set<int> members, seen;
  for (const Member& m : k.members) members.insert(m.stage);
  for (const auto& [sum, ranges] : sums_across(k)) {
    if (sum == stage) return {};
    members.erase(sum);
  }
  std::vector<int> todo;
  auto visit = [&](const Source& src) {
    if (src.stage >= 0 && seen.insert(src.stage).second && members.contains(src.stage)) todo.push_back(src.stage);
  };
  const std::vector<Source>& sources = p.graph.stages[static_cast<size_t>(stage)].sources;
  for (size_t i = first; i < sources.size(); ++i) visit(sources[i]);
  while (!todo.empty()) {
    const int s = todo.back();
    todo.pop_back();
    for (const Source& src : p.graph.stages[static_cast<size_t>(s)].sources) visit(src);
  }
  return seen;
}

/// The slots with a home among that.
std::vector<int> homes_read(const Partition& p, const Kernel& k, int stage, size_t first,
                            const std::map<int, int>& stores) {
  std::vector<int> found;
  for (int s : made_of(p, k, stage, first))
    if (is_buffer(p.graph, s) && stores.contains(slot_of(p.graph, s))) found.push_back(slot_of(p.graph, s));
  return found;
}

/// Stores that read a home come before the store into it.
void order_stores(Partition& p, Kernel& k, const std::map<int, int>& stores) {
  const size_t n = k.outputs.size();
  const bool in_place = std::any_of(k.outputs.begin(), k.outputs.end(), [&](const Stored& s) {
    const std::vector<int>& outputs = p.graph.stages[static_cast<size_t>(s.stage)].outputs;
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](int o) { return p.graph.homes[static_cast<size_t>(o)] >= 0; });
  });
  std::vector<std::vector<int>> reads;
  for (const Stored& o : k.outputs)
    reads.push_back(in_place ? homes_read(p, k, o.stage, 0, stores) : std::vector<int>());
  auto writes = [&](size_t i, int slot) {
    const std::vector<int>& outputs = p.graph.stages[static_cast<size_t>(k.outputs[i].stage)].outputs;
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](int o) { return p.graph.homes[static_cast<size_t>(o)] == slot; });
  };
  // Late stores run behind all others, whatever they read.
  auto late = [&](size_t i) { return is_late(k, k.outputs[i].stage); };
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      if (!late(i) && late(j) &&
          std::any_of(reads[j].begin(), reads[j].end(), [&](int slot) { return writes(i, slot); }))
        take_new_storage(p.graph, k.outputs[i].stage);
  auto box = [&](size_t i) { return p.graph.stages[static_cast<size_t>(k.outputs[i].stage)].kind == StageKind::Box; };
  std::vector<Stored> order;
  std::vector<char> placed(n, 0);
  while (order.size() < n) {
    size_t next = n, stuck = n;
    for (size_t i = 0; i < n && next == n; ++i) {
      if (placed[i]) continue;
      bool free = true;
      for (size_t j = 0; j < n; ++j) free &= !(late(i) && !late(j) && !placed[j]);
      for (size_t j = 0; j < n; ++j)
        if (j != i && !placed[j])
          for (int slot : reads[j]) free &= !writes(i, slot);
      if (free)
        next = i;
      else if (stuck == n || (box(stuck) && !box(i)))
        stuck = i;
    }
    if (next == n) {
      take_new_storage(p.graph, k.outputs[stuck].stage);
      continue;
    }
    placed[next] = 1;
    order.push_back(k.outputs[next]);
  }
  k.outputs = std::move(order);
}

}  // namespace

std::map<int, int> stores_by_slot(const StageGraph& g) {
  std::map<int, int> stores;
  for (size_t o = 0; o < g.homes.size(); ++o)
    if (g.homes[o] >= 0) stores[g.homes[o]] = g.output_stages[o];
  return stores;
}

std::vector<int> order_in_place(StageGraph& g) {
  // A value that several outputs share can be read from one home at most while it is stored.
  for (const Stage& s : g.stages) {
    bool taken = false;
    for (int o : s.outputs) {
      int& home = g.homes[static_cast<size_t>(o)];
      if (taken) home = -1;
      taken = taken || home >= 0;
    }
  }
  const std::map<int, int> stores = stores_by_slot(g);
  bool waits = false;
  for (size_t i = 0; i < g.stages.size(); ++i) {
    Stage& s = g.stages[i];
    s.before.clear();
    if (stores.empty()) continue;
    for (const Source& src : s.sources) {
      if (!is_buffer(g, src.stage)) continue;
      auto it = stores.find(slot_of(g, src.stage));
      if (it == stores.end() || it->second == static_cast<int>(i)) continue;
      if (std::find(s.before.begin(), s.before.end(), it->second) == s.before.end()) s.before.push_back(it->second);
    }
    waits = waits || !s.before.empty();
  }
  return waits ? cut_circles(g) : std::vector<int>();
}

bool reads_only_what_it_writes(Partition& p, int kernel, int buffer, int store) {
  const Kernel& k = p.kernels[static_cast<size_t>(kernel)];
  for (const Stored& out : k.outputs) {
    if (out.stage != store) continue;
    // The updates of a scatter run when its base has been written.
    if (p.graph.stages[static_cast<size_t>(store)].kind == StageKind::ScatterAdd) {
      const int slot = slot_of(p.graph, buffer);
      const std::vector<int> read = homes_read(p, k, store, 1, {{slot, store}});
      if (std::find(read.begin(), read.end(), slot) != read.end()) return false;
    }
    const ir::UOp target = p.graph.stages[static_cast<size_t>(store)].target;
    const IndexId element = p.space.normal(target ? p.space.down(target, out.at) : out.at);
    if (is_late(k, store)) {  // all else has been read
      std::unordered_set<int> with = made_of(p, k, store);
      with.insert(store);
      for (const Member& m : k.members) {
        if (!with.contains(m.stage)) continue;
        for (const Source& src : p.graph.stages[static_cast<size_t>(m.stage)].sources)
          for (IndexId at : m.at)
            if (src.stage == buffer && p.space.normal(p.space.down(src.head, at)) != element) return false;
      }
      continue;
    }
    for (IndexId at : k.reads.at(buffer))
      if (p.space.normal(at) != element) return false;
    // What lacks an outer range is stored at its first point: nobody may read it at the others.
    const std::vector<int>& axes = p.space.axes_of(element);
    std::vector<int> lacks = k.outer;
    std::erase_if(lacks, [&](int a) { return contains(axes, a); });
    if (lacks.empty()) continue;
    const int slot = slot_of(p.graph, buffer);
    for (const Stored& other : k.outputs) {
      const std::vector<int>& around = p.space.axes_of(other.at);
      if (std::none_of(lacks.begin(), lacks.end(), [&](int a) { return contains(around, a); })) continue;
      if (contains(homes_read(p, k, other.stage, 0, {{slot, store}}), slot)) return false;
    }
    for (const Member& m : k.members) {
      const std::vector<Source>& sources = p.graph.stages[static_cast<size_t>(m.stage)].sources;
      if (std::none_of(sources.begin(), sources.end(), [&](const Source& s) { return s.stage == buffer; })) continue;
      for (IndexId at : m.at)
        if (p.space.axes_of(at) != axes) return false;
    }
  }
  return true;
}

std::vector<int> settle_in_place(Partition& p) {
  std::map<int, int> stores = stores_by_slot(p.graph);
  for (size_t k = 0; k < p.kernels.size(); ++k) {
    for (const auto& [buffer, at] : p.kernels[k].reads) {
      if (!is_buffer(p.graph, buffer)) continue;
      auto it = stores.find(slot_of(p.graph, buffer));
      if (it == stores.end()) continue;
      const int where = p.kernel_of[static_cast<size_t>(it->second)];
      const bool safe = static_cast<int>(k) == where ? reads_only_what_it_writes(p, where, buffer, it->second)
                                                     : p.kernels[k].level > p.kernels[static_cast<size_t>(where)].level;
      if (!safe) take_new_storage(p.graph, it->second);
    }
  }
  stores = stores_by_slot(p.graph);
  for (Kernel& k : p.kernels)
    if (k.outputs.size() > 1) order_stores(p, k, stores);
  std::vector<int> lost;
  for (const Stage& s : p.graph.stages)
    if (s.kind == StageKind::Box && p.graph.homes[static_cast<size_t>(s.outputs[0])] < 0)
      lost.insert(lost.end(), s.outputs.begin(), s.outputs.end());
  return lost;
}

}  // namespace sinter::schedule
