// No fused kernel gives up parallel work that is worth more than what fusing saved: its outer ranges have as many points
// as the Target has parallel units wherever the unfused form has them, or what idles costs less than the launches and
// reads that are gone.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <unordered_map>

#include "catch.h"
#include "schedule/cost.h"
#include "schedule/schedule.h"

/// Kernels that are let be: of that test case, where a line of the kernel has that text.
struct FewPoints {
  const char* test;
  const char* text;
  const char* reason;
};
inline constexpr FewPoints kFewPoints[] = {
    {"cross entropy with the gradient of its logits is one launch", "float32[97, 37]",
     "1274 ns on 4 points for 1006: the kernels met when 311 ns of that were decided, as users come before sources, and "
     "apart both would compute the exponents"},
    {"a training step of a symbolic batch is as many launches as of a fixed one", "float32[96, 10]",
     "673 ns on 3 points for 1006: as above, 153 ns were decided"},
    {"a training step of a symbolic batch is as many launches as of a fixed one", "float32[1, 128]",
     "573 ns at the one point of a batch of 1: each stage by itself costs less than the launch that it would take"},
    {"statistics of a whole tensor read it once, on all threads, and agree to the bit", "float32[2049, 3]",
     "940 ns on 3 points: a sum that waits for a maximum over the same range cannot go across it, and a kernel of its own "
     "for the exponents costs two trips through memory and a launch"},
};

/// While it lives, every plan that is decided is held to that.
class ParallelCheck final : public sinter::schedule::Witness {
 public:
  ParallelCheck() : before_(sinter::schedule::set_witness(this)) {}
  ~ParallelCheck() override { sinter::schedule::set_witness(before_); }
  ParallelCheck(const ParallelCheck&) = delete;
  ParallelCheck& operator=(const ParallelCheck&) = delete;

  void scheduled(const sinter::schedule::PlanGraph& plan, const sinter::schedule::Partition& cut,
                 const sinter::schedule::Scheduled&, sinter::schedule::Policy policy) override {
    using namespace sinter::schedule;
    if (policy != Policy::Fused) return;
    const sinter::runtime::Target target = sinter::runtime::host_target();
    const Prices prices = prices_for(target);
    for (size_t k = 0; k < cut.kernels.size(); ++k) {
      const Kernel& kernel = cut.kernels[k];
      const int64_t has = points(cut, kernel);
      double saved = prices.launch;
      for (const Meeting& m : cut.meetings)
        if (m.kernel == static_cast<int>(k)) saved += m.gain;
      const auto lost = [&](int64_t points) {
        return kernel.time * (static_cast<double>(points) / static_cast<double>(std::max<int64_t>(1, has)) - 1);
      };
      if (has >= prices.parallel || lost(prices.parallel) <= saved) continue;
      const int64_t wanted = std::min(prices.parallel, unfused_points(plan, target, cut, kernel));
      if (lost(wanted) <= saved || excepted(lines(cut, k))) continue;
      FAIL_CHECK("a kernel of " << has << " points where the unfused form has " << wanted << ", for " << saved << " ns:\n"
                                << lines(cut, k));
    }
  }

 private:
  static int64_t points(const sinter::schedule::Partition& p, const sinter::schedule::Kernel& k) {
    int64_t n = 1;
    for (int a : k.outer) {
      const int64_t size = p.space.bound(a);
      n *= a == k.blocks.axis ? k.blocks.count(size) : size;
    }
    return n;
  }

  /// The most points of any kernel that computes one of the members when every op is a kernel of its own.
  static int64_t unfused_points(sinter::schedule::PlanGraph plan, const sinter::runtime::Target& target,
                                const sinter::schedule::Partition& fused, const sinter::schedule::Kernel& kernel) {
    using namespace sinter::schedule;
    const Partition p = cut(plan, target, Policy::Unfused);
    std::unordered_map<sinter::ir::UOp, int> stored_by;
    for (size_t s = 0; s < p.graph.stages.size(); ++s) stored_by[p.graph.stages[s].node] = p.kernel_of[s];
    int64_t most = 1;
    for (const Member& m : kernel.members) {
      const auto found = stored_by.find(fused.graph.stages[static_cast<size_t>(m.stage)].node);
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

  static bool excepted(const std::string& lines) {
    const std::string test = Catch::getResultCapture().getCurrentTestName();
    return std::any_of(std::begin(kFewPoints), std::end(kFewPoints), [&](const FewPoints& e) {
      return test == e.test && lines.find(e.text) != std::string::npos;
    });
  }

  sinter::schedule::Witness* before_;
};
