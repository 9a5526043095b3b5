// Order edges before the partition, and the check after it.
#include "schedule/fusion/hazards.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "sinter/error.h"

namespace sinter::schedule {
namespace {

bool is_buffer(const FusionGraph& g, int node) { return node >= 0 && g.nodes[node].kind == FusionNodeKind::Buffer; }
int slot_of(const FusionGraph& g, int node) { return static_cast<int>(g.nodes[node].uop->integer()); }

void take_new_storage(FusionGraph& g, int node, std::vector<int>* lost = nullptr) {
  for (int o : g.nodes[node].outputs) {
    int& home = g.homes[o];
    if (home >= 0 && lost) lost->push_back(o);
    home = -1;
  }
}

/// Simulates an execution order, sources first. A node that blocks the others loses its home.
std::vector<int> break_cycles(FusionGraph& g) {
  const size_t n = g.nodes.size();
  std::vector<int> lost, sources(n, 0), readers(n, 0), ready;
  std::vector<std::vector<int>> users(n);
  for (size_t i = 0; i < n; ++i) {
    for (const FusionEdge& s : g.nodes[i].sources)
      if (s.node >= 0) ++sources[i], users[s.node].push_back(static_cast<int>(i));
    for (int store : g.nodes[i].before) ++readers[store];
  }
  auto offer = [&](int s) {
    if (sources[s] == 0 && readers[s] == 0) ready.push_back(s);
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
        if (--sources[u] == 0) offer(u);
      for (int store : g.nodes[s].before)
        if (--readers[store] == 0) offer(store);
    }
    if (finished == n) break;
    // In a cycle every node waits. The first one whose sources are done waits only for readers.
    while (done[blocked] || sources[blocked] > 0) ++blocked;
    const int store = static_cast<int>(blocked);
    take_new_storage(g, store, &lost);
    for (FusionNode& s : g.nodes) std::erase(s.before, store);
    readers[blocked] = 0;
    ready.push_back(store);
    blocked = 0;
  }
  return lost;
}

bool in_epilogue(const FusionGroup& k, int node) { return std::ranges::binary_search(k.epilogue, node); }

/// The nodes inside the kernel from which a node's value is computed when it is stored, through its sources from number
/// `first` on: members and what they read. Inputs of sums across outer ranges are excluded: they have been read by
/// then.
std::unordered_set<int> made_of(const Partition& p, const FusionGroup& k, int node, size_t first = 0) {
  std::unordered_set<int> members, seen;
  for (const Member& m : k.members) members.insert(m.node);
  for (const auto& [sum, ranges] : split_reductions_of(k)) {
    if (sum == node) return {};
    members.erase(sum);
  }
  std::vector<int> todo;
  auto visit = [&](const FusionEdge& src) {
    if (src.node >= 0 && seen.insert(src.node).second && members.contains(src.node)) todo.push_back(src.node);
  };
  const std::vector<FusionEdge>& sources = p.graph.nodes[node].sources;
  for (size_t i = first; i < sources.size(); ++i) visit(sources[i]);
  while (!todo.empty()) {
    const int s = todo.back();
    todo.pop_back();
    for (const FusionEdge& src : p.graph.nodes[s].sources) visit(src);
  }
  return seen;
}

/// The slots with a home among made_of().
std::vector<int> homes_read(const Partition& p, const FusionGroup& k, int node, size_t first,
                            const std::map<int, int>& stores) {
  std::vector<int> found;
  for (int s : made_of(p, k, node, first))
    if (is_buffer(p.graph, s) && stores.contains(slot_of(p.graph, s))) found.push_back(slot_of(p.graph, s));
  return found;
}

/// Sorts the stores: those that read a home come before the store into it.
void order_stores(Partition& p, FusionGroup& k, const std::map<int, int>& stores) {
  const size_t n = k.outputs.size();
  const bool in_place = std::ranges::any_of(k.outputs, [&](const KernelStore& s) {
    const std::vector<int>& outputs = p.graph.nodes[s.node].outputs;
    return std::ranges::any_of(outputs, [&](int o) { return p.graph.homes[o] >= 0; });
  });
  std::vector<std::vector<int>> reads = ir::mapped(k.outputs, [&](const KernelStore& o) {
    return in_place ? homes_read(p, k, o.node, 0, stores) : std::vector<int>();
  });
  auto writes = [&](size_t i, int slot) {
    const std::vector<int>& outputs = p.graph.nodes[k.outputs[i].node].outputs;
    return std::ranges::any_of(outputs, [&](int o) { return p.graph.homes[o] == slot; });
  };
  // Epilogue stores run after all others, whatever they read.
  auto last = [&](size_t i) { return in_epilogue(k, k.outputs[i].node); };
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      if (!last(i) && last(j) && std::ranges::any_of(reads[j], [&](int slot) { return writes(i, slot); }))
        take_new_storage(p.graph, k.outputs[i].node);
  auto box = [&](size_t i) { return p.graph.nodes[k.outputs[i].node].kind == FusionNodeKind::Box; };
  std::vector<KernelStore> order;
  std::vector<char> placed(n, 0);
  while (order.size() < n) {
    size_t next = n, stuck = n;
    for (size_t i = 0; i < n && next == n; ++i) {
      if (placed[i]) continue;
      bool free = true;
      for (size_t j = 0; j < n; ++j) free &= !(last(i) && !last(j) && !placed[j]);
      for (size_t j = 0; j < n; ++j)
        if (j != i && !placed[j])
          for (int slot : reads[j]) free &= !writes(i, slot);
      if (free)
        next = i;
      else if (stuck == n || (box(stuck) && !box(i)))
        stuck = i;
    }
    if (next == n) {
      take_new_storage(p.graph, k.outputs[stuck].node);
      continue;
    }
    placed[next] = 1;
    order.push_back(k.outputs[next]);
  }
  k.outputs = std::move(order);
}

}  // namespace

std::map<int, int> stores_by_slot(const FusionGraph& g) {
  std::map<int, int> stores;
  for (size_t o = 0; o < g.homes.size(); ++o)
    if (g.homes[o] >= 0) stores[g.homes[o]] = g.output_nodes[o];
  return stores;
}

std::vector<int> order_in_place(FusionGraph& g) {
  // A value shared by several outputs is stored once, so it has at most one home.
  for (const FusionNode& s : g.nodes) {
    bool taken = false;
    for (int o : s.outputs) {
      int& home = g.homes[o];
      if (taken) home = -1;
      taken = taken || home >= 0;
    }
  }
  const std::map<int, int> stores = stores_by_slot(g);
  bool waits = false;
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    FusionNode& s = g.nodes[i];
    s.before.clear();
    if (stores.empty()) continue;
    for (const FusionEdge& src : s.sources) {
      if (!is_buffer(g, src.node)) continue;
      auto it = stores.find(slot_of(g, src.node));
      if (it == stores.end() || it->second == static_cast<int>(i)) continue;
      if (!contains(s.before, it->second)) s.before.push_back(it->second);
    }
    waits = waits || !s.before.empty();
  }
  return waits ? break_cycles(g) : std::vector<int>();
}

bool reads_only_what_it_writes(Partition& p, int kernel, int buffer, int store) {
  const FusionGroup& k = p.kernels[kernel];
  for (const KernelStore& out : k.outputs) {
    if (out.node != store) continue;
    // The updates of a scatter run after its base has been written.
    if (p.graph.nodes[store].scatter) {
      const int slot = slot_of(p.graph, buffer);
      const std::vector<int> read = homes_read(p, k, store, 1, {{slot, store}});
      if (contains(read, slot)) return false;
    }
    const ir::UOp target = p.graph.nodes[store].target;
    const IndexId element = p.space.normal(target ? p.space.down(target, out.at) : out.at);
    if (in_epilogue(k, store)) {  // all other reads are done
      std::unordered_set<int> with = made_of(p, k, store);
      with.insert(store);
      for (const Member& m : k.members) {
        if (!with.contains(m.node)) continue;
        for (const FusionEdge& src : p.graph.nodes[m.node].sources)
          for (IndexId at : m.at)
            if (src.node == buffer && p.space.normal(p.space.down(src.head, at)) != element) return false;
      }
      continue;
    }
    for (IndexId at : k.reads.at(buffer))
      if (p.space.normal(at) != element) return false;
    // A store that lacks an outer range runs in its first task only: the other tasks must not read the home.
    const std::vector<int>& axes = p.space.axes_of(element);
    std::vector<int> lacks = k.outer;
    std::erase_if(lacks, [&](int a) { return contains(axes, a); });
    if (lacks.empty()) continue;
    const int slot = slot_of(p.graph, buffer);
    for (const KernelStore& other : k.outputs) {
      const std::vector<int>& around = p.space.axes_of(other.at);
      if (std::ranges::none_of(lacks, [&](int a) { return contains(around, a); })) continue;
      if (contains(homes_read(p, k, other.node, 0, {{slot, store}}), slot)) return false;
    }
    for (const Member& m : k.members) {
      const std::vector<FusionEdge>& sources = p.graph.nodes[m.node].sources;
      if (std::ranges::none_of(sources, [&](const FusionEdge& s) { return s.node == buffer; })) continue;
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
      const int where = p.kernel_of[it->second];
      const bool safe = static_cast<int>(k) == where ? reads_only_what_it_writes(p, where, buffer, it->second)
                                                     : p.kernels[k].level > p.kernels[where].level;
      if (!safe) take_new_storage(p.graph, it->second);
    }
  }
  stores = stores_by_slot(p.graph);
  for (FusionGroup& k : p.kernels)
    if (k.outputs.size() > 1) order_stores(p, k, stores);
  std::vector<int> lost;
  for (const FusionNode& s : p.graph.nodes)
    if (s.kind == FusionNodeKind::Box && p.graph.homes[s.outputs[0]] < 0)
      lost.insert(lost.end(), s.outputs.begin(), s.outputs.end());
  return lost;
}

}  // namespace sinter::schedule
