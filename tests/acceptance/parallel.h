// No fused kernel gives up parallel work: its outer ranges have as many points as the Target has parallel units
// wherever the unfused form has them.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <unordered_map>

#include "catch.h"
#include "runtime/program/host_target.h"
#include "schedule/graph/fusion_cost.h"
#include "schedule/schedule.h"

/// While it lives, every plan that is decided is held to that, but for kernels that take less than `least` launches:
/// there another launch costs more than units without work, and sums over fewer rows than 32 per unit have fewer blocks
/// than units.
class ParallelCheck final : public sinter::schedule::ScheduleObserver {
 public:
  explicit ParallelCheck(double least) : least_(least) {}
  void after_schedule(const sinter::schedule::PlanGraph& plan, const sinter::schedule::Partition& cut,
                      const sinter::schedule::KernelSchedule&, sinter::schedule::Policy policy) override {
    using namespace sinter::schedule;
    if (policy != Policy::Fused) return;
    const sinter::runtime::Target target = sinter::runtime::host_target();
    const Prices prices = prices_for(target);
    for (size_t k = 0; k < cut.kernels.size(); ++k) {
      const FusionGroup& kernel = cut.kernels[k];
      const int64_t has = points(cut, kernel);
      if (has >= prices.parallel || kernel.time < least_ * prices.launch) continue;
      const int64_t wanted = std::min(prices.parallel, unfused_points(plan, target, cut, kernel));
      if (has < wanted)
        FAIL_CHECK("a kernel of " << has << " points where the unfused form has " << wanted << ":\n" << lines(cut, k));
    }
  }

 private:
  static int64_t points(const sinter::schedule::Partition& p, const sinter::schedule::FusionGroup& k) {
    int64_t n = 1;
    for (int a : k.outer) {
      const int64_t size = p.space.bound(a);
      n *= a == k.blocks.axis ? k.blocks.count(size) : size;
    }
    return n;
  }

  /// The most points of any kernel that computes one of the members when every op is a kernel of its own.
  static int64_t unfused_points(sinter::schedule::PlanGraph plan, const sinter::runtime::Target& target,
                                const sinter::schedule::Partition& fused, const sinter::schedule::FusionGroup& kernel) {
    using namespace sinter::schedule;
    const Partition p = partition_plan(plan, target, Policy::Unfused);
    std::unordered_map<sinter::ir::UOp, int> stored_by;
    for (size_t s = 0; s < p.graph.nodes.size(); ++s) stored_by[p.graph.nodes[s].uop] = p.kernel_of[s];
    int64_t most = 1;
    for (const Member& m : kernel.members) {
      const auto found = stored_by.find(fused.graph.nodes[static_cast<size_t>(m.node)].uop);
      REQUIRE(found != stored_by.end());
      if (found->second >= 0) most = std::max(most, points(p, p.kernels[static_cast<size_t>(found->second)]));
    }
    return most;
  }

  /// Of DEBUG=3, those of this kernel.
  static std::string lines(const sinter::schedule::Partition& p, size_t k) {
    std::istringstream text(to_string(p));
    const std::string number = " k" + std::to_string(k) + " ";
    std::string found;
    for (std::string line; std::getline(text, line);)
      if (line.find(number) != std::string::npos) found += line + "\n";
    return found;
  }

  double least_;
};
