// First groups kernels of one level, so that no two groups can wait for each other. Then orders the groups from the
// end.
#include "schedule/lower/launch_order.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "schedule/fusion/hazards.h"
#include "sinter/error.h"

namespace sinter::schedule {
namespace {

/// Equal for kernels that probably have the same body: by their ops and sizes.
uint64_t likeness(const Partition& p, const FusionGroup& k) {
  uint64_t h = k.outputs.size();
  for (const std::vector<int>* axes : {&k.outer, &k.inner})
    for (int a : *axes) h = ir::mix(h, static_cast<uint64_t>(p.space.bound(a)));
  for (const Member& m : k.members) {
    UOp n = p.graph.nodes[m.node].uop;
    h = ir::mix(ir::mix(h, static_cast<uint64_t>(n->op)),
                ir::mix(static_cast<uint64_t>(n->dtype), ir::hash_of(n->shape)));
  }
  return h;
}

/// Per kernel, how many barriers the longest way to it has. What is computed anew behind a barrier is used up, and its
/// memory free, before the next one: launches are ordered by this number, and kernels with different ones share none.
std::vector<int> barriers_before(const Partition& p) {
  std::vector<int> count(p.kernels.size(), 0), order;
  for (size_t k = 0; k < p.kernels.size(); ++k) order.push_back(static_cast<int>(k));
  std::ranges::sort(order, [&](int a, int b) {  // sources first
    return std::pair(-p.kernels[a].level, a) < std::pair(-p.kernels[b].level, b);
  });
  for (int k : order) {
    const FusionGroup& kernel = p.kernels[k];
    int& most = count[k];
    for (const auto& [node, at] : kernel.reads)
      if (p.graph.nodes[node].kind != FusionNodeKind::Buffer) most = std::max(most, count[p.kernel_of[node]]);
    most += std::ranges::any_of(kernel.members,
                                [&](const Member& m) { return p.graph.nodes[m.node].uop->op == Op::Barrier; });
  }
  return count;
}

/// The launch of each kernel. Kernels of one level are independent: equal bodies share a launch, and small kernels join
/// the largest one.
std::vector<int> group(const Partition& p, const Prices& prices, const std::vector<int>& barriers, int& count) {
  std::map<std::tuple<int, int, uint64_t>, int> groups;  // by level, barriers and likeness
  std::map<std::pair<int, int>, int> largest;            // by level and barriers: a kernel
  for (size_t k = 0; k < p.kernels.size(); ++k) {
    auto [it, fresh] = largest.try_emplace({p.kernels[k].level, barriers[k]}, static_cast<int>(k));
    if (!fresh && p.kernels[it->second].time < p.kernels[k].time) it->second = static_cast<int>(k);
  }
  std::vector<int> launch_of;
  for (size_t n = 0; n < p.kernels.size(); ++n) {
    const FusionGroup& k = p.kernels[n];
    const bool small = k.time < prices.small_kernel && k.contraction_time < prices.small_kernel / 2;
    const FusionGroup& like = small ? p.kernels[largest.at({k.level, barriers[n]})] : k;
    auto [it, fresh] = groups.try_emplace({k.level, barriers[n], likeness(p, like)}, count);
    if (fresh) ++count;
    launch_of.push_back(it->second);
  }
  return launch_of;
}

/// Per launch, the launches that must run before it: those that store what it reads, and those that read what it
/// overwrites.
std::vector<std::vector<int>> waits(const Partition& p, const std::vector<int>& launch_of, int count) {
  std::vector<std::vector<int>> before(static_cast<size_t>(count));
  const std::map<int, int> stores = stores_by_slot(p.graph);
  auto wait = [&](size_t kernel, size_t for_kernel) { before[launch_of[kernel]].push_back(launch_of[for_kernel]); };
  for (size_t k = 0; k < p.kernels.size(); ++k)
    for (const auto& [node, at] : p.kernels[k].reads) {
      const FusionNode& s = p.graph.nodes[node];
      if (s.kind != FusionNodeKind::Buffer) {
        wait(k, static_cast<size_t>(p.kernel_of[node]));
        continue;
      }
      auto it = stores.find(static_cast<int>(s.uop->integer()));
      if (it == stores.end()) continue;
      const auto writer = static_cast<size_t>(p.kernel_of[it->second]);
      if (writer != k) wait(writer, k);
    }
  for (std::vector<int>& list : before) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return before;
}

/// Topological order from the end: a launch is placed when all that must follow it are, those behind most barriers
/// first. Of these the most recently freed one goes next, so that producers run just before their users.
std::vector<int> in_order(const std::vector<std::vector<int>>& before, const std::vector<int>& barriers) {
  std::vector<int> followers(before.size(), 0), order;
  std::map<int, std::vector<int>> ready;  // by barriers
  const auto free = [&](int l) { ready[barriers[l]].push_back(l); };
  for (const auto& list : before)
    for (int b : list) ++followers[b];
  for (size_t l = before.size(); l-- > 0;)
    if (followers[l] == 0) free(static_cast<int>(l));
  while (!ready.empty()) {
    const auto most = std::prev(ready.end());
    order.push_back(most->second.back());
    most->second.pop_back();
    if (most->second.empty()) ready.erase(most);
    for (int b : before[order.back()])
      if (--followers[b] == 0) free(b);
  }
  if (order.size() != before.size()) throw InternalError("launches of a plan wait for each other in a circle");
  std::ranges::reverse(order);
  return order;
}

}  // namespace

std::vector<std::vector<int>> launch_order(const Partition& p, const Prices& prices, Policy policy) {
  int count = 0;
  std::vector<int> launch_of;
  const std::vector<int> barriers = barriers_before(p);
  if (policy == Policy::Fused)
    launch_of = group(p, prices, barriers, count);
  else
    for (size_t k = 0; k < p.kernels.size(); ++k) launch_of.push_back(count++);
  const std::vector<std::vector<int>> before = waits(p, launch_of, count);
  std::vector<std::vector<int>> kernels(before.size()), out;
  std::vector<int> barriers_of(before.size(), 0);
  for (size_t k = 0; k < p.kernels.size(); ++k) {
    const auto l = static_cast<size_t>(launch_of[k]);
    kernels[l].push_back(static_cast<int>(k));
    barriers_of[l] = std::max(barriers_of[l], barriers[k]);
  }
  std::vector<int> open;  // the groups merged into the last launch
  for (int l : in_order(before, barriers_of)) {
    const std::vector<int>& waits_for = before[l];
    const bool free = std::ranges::none_of(open, [&](int o) { return std::ranges::binary_search(waits_for, o); });
    if (!free || open.empty() || policy == Policy::Unfused) {
      out.emplace_back();
      open.clear();
    }
    open.push_back(l);
    out.back().insert(out.back().end(), kernels[l].begin(), kernels[l].end());
  }
  return out;
}

}  // namespace sinter::schedule
