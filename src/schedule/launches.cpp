// Groups first, each within one level, so that no two of them can wait for each other; then their order, from the end.
#include "schedule/launches.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "schedule/hazards.h"
#include "sinter/error.h"

namespace sinter::schedule {
namespace {

/// Equal for kernels that are probably one body: what they evaluate, over which sizes.
uint64_t likeness(const Partition& p, const Kernel& k) {
  uint64_t h = k.outputs.size();
  for (const std::vector<int>* axes : {&k.outer, &k.inner})
    for (int a : *axes) h = ir::mix(h, static_cast<uint64_t>(p.space.bound(a)));
  for (const Member& m : k.members) {
    ir::UOp n = p.graph.stages[static_cast<size_t>(m.stage)].node;
    h = ir::mix(ir::mix(h, static_cast<uint64_t>(n->op)), ir::mix(static_cast<uint64_t>(n->dtype), ir::hash_of(n->shape)));
  }
  return h;
}

/// Per kernel the launch that it belongs to. Kernels of one level cannot wait for each other: there equal bodies run
/// together, and small kernels beside the largest.
std::vector<int> group(const Partition& p, const Prices& prices, int& count) {
  std::map<std::pair<int, uint64_t>, int> groups;  // by level and likeness
  std::map<int, int> largest;                      // by level: a kernel
  for (size_t k = 0; k < p.kernels.size(); ++k) {
    auto [it, fresh] = largest.try_emplace(p.kernels[k].level, static_cast<int>(k));
    if (!fresh && p.kernels[static_cast<size_t>(it->second)].time < p.kernels[k].time) it->second = static_cast<int>(k);
  }
  std::vector<int> launch_of;
  for (const Kernel& k : p.kernels) {
    const bool small = k.time < prices.small_kernel && k.contraction_time < prices.small_kernel / 2;
    const Kernel& like = small ? p.kernels[static_cast<size_t>(largest.at(k.level))] : k;
    auto [it, fresh] = groups.try_emplace({k.level, likeness(p, like)}, count);
    if (fresh) ++count;
    launch_of.push_back(it->second);
  }
  return launch_of;
}

}  // namespace

std::vector<std::vector<int>> launch_order(const Partition& p, const Prices& prices, Policy policy) {
  int count = 0;
  std::vector<int> launch_of;
  if (policy == Policy::Fused)
    launch_of = group(p, prices, count);
  else
    for (size_t k = 0; k < p.kernels.size(); ++k) launch_of.push_back(count++);
  const auto n = static_cast<size_t>(count);
  std::vector<std::vector<int>> kernels(n), before(n);  // before: launches that must have run
  for (size_t k = 0; k < p.kernels.size(); ++k) kernels[static_cast<size_t>(launch_of[k])].push_back(static_cast<int>(k));
  const std::map<int, int> stores = stores_by_slot(p.graph);
  auto wait = [&](size_t kernel, int for_kernel) {
    std::vector<int>& list = before[static_cast<size_t>(launch_of[kernel])];
    const int other = launch_of[static_cast<size_t>(for_kernel)];
    if (std::find(list.begin(), list.end(), other) == list.end()) list.push_back(other);
  };
  for (size_t k = 0; k < p.kernels.size(); ++k) {
    std::vector<int> reads;
    for (const auto& [stage, at] : p.kernels[k].reads) reads.push_back(stage);
    std::sort(reads.begin(), reads.end());
    for (int stage : reads) {
      const Stage& s = p.graph.stages[static_cast<size_t>(stage)];
      if (s.kind != StageKind::Buffer) {
        wait(k, p.kernel_of[static_cast<size_t>(stage)]);
        continue;
      }
      auto it = stores.find(static_cast<int>(s.node->integer()));
      if (it == stores.end()) continue;
      const int writer = p.kernel_of[static_cast<size_t>(it->second)];
      if (writer != static_cast<int>(k)) wait(static_cast<size_t>(writer), static_cast<int>(k));
    }
  }
  // From the end: a launch is placed when all that must follow it are. The latest one found goes next, so that it runs
  // just before.
  std::vector<int> followers(n, 0), ready;
  std::vector<std::vector<int>> order;
  for (const auto& list : before)
    for (int b : list) ++followers[static_cast<size_t>(b)];
  for (size_t l = n; l-- > 0;)
    if (followers[l] == 0) ready.push_back(static_cast<int>(l));
  while (!ready.empty()) {
    const auto l = static_cast<size_t>(ready.back());
    ready.pop_back();
    order.push_back(std::move(kernels[l]));
    for (int b : before[l])
      if (--followers[static_cast<size_t>(b)] == 0) ready.push_back(b);
  }
  if (order.size() != n) throw InternalError("launches of a plan wait for each other in a circle");
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace sinter::schedule
