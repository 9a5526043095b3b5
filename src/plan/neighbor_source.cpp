// The heuristic's list and neighbors of what is fastest, ranked by a bound of their time.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "codegen/tune/choose_opts.h"
#include "codegen/tune/search/neighbors.h"
#include "codegen/tune/search/time_bound.h"
#include "plan/opt_source.h"
#include "runtime/base/hash.h"
#include "runtime/cpu/roofline_cache.h"

namespace sinter::plan {
namespace {

using codegen::Opt;

constexpr double kUncached = 128e6;  ///< bytes that no cache holds: such a launch takes at least as long as a copy

class NeighborSource final : public OptSource {
 public:
  NeighborSource(const codegen::Kernel& kernel, const runtime::Target& target, double peak)
      : kernel_(kernel), target_(target), neighborhood_(kernel, target), bound_(kernel, target, peak) {}

  std::vector<OptProposal> first(size_t) override {
    std::vector<Opt> heuristic = codegen::choose_opts(kernel_, target_);
    seen_.insert(to_string(heuristic));
    return {{std::move(heuristic)}};
  }

  /// New neighbors of the beam whose time bound is below `ns`: equally many of each kind of change, those with the
  /// lowest bounds.
  std::vector<OptProposal> next(const std::vector<std::vector<Opt>>& beam, double ns, size_t most) override {
    std::map<std::string_view, std::vector<RankedProposal>> by_change = rank(beam, ns);
    std::vector<OptProposal> out;
    for (size_t rank = 0, before = 1; out.size() < most && out.size() != before; ++rank) {
      before = out.size();
      for (auto& [change, list] : by_change)
        if (rank < list.size() && out.size() < most) out.push_back(std::move(list[rank].proposal));
    }
    for (const OptProposal& p : out) seen_.insert(to_string(p.opts));
    return out;
  }

  /// Arithmetic at its peak, and memory traffic that no cache can hold.
  double floor(const runtime::StepCost& cost) const override {
    const runtime::cpu::Roofline roofs = runtime::cpu::cached_roofline(target_.threads);
    const auto bytes = static_cast<double>(cost.bytes);
    return std::max(cost.flops / roofs.flops, bytes < kUncached ? 0 : bytes / roofs.copy) * 1e9;
  }
  size_t ruled_out() const override { return slower_; }

 private:
  struct RankedProposal {
    OptProposal proposal;
    runtime::Hash128 tie;  ///< arbitrary but stable order among equal bounds
  };

  /// By kind of change, the lowest bound first.
  std::map<std::string_view, std::vector<RankedProposal>> rank(const std::vector<std::vector<Opt>>& beam, double ns) {
    std::map<std::string_view, std::vector<RankedProposal>> by_change;
    std::set<std::string> met;
    for (const std::vector<Opt>& member : beam)
      for (codegen::Neighbor& n : neighborhood_.of(member)) {
        const std::string text = to_string(n.opts);
        if (seen_.contains(text) || !met.insert(text).second) continue;
        const double bound = bound_.ns(n.opts);
        if (bound < ns)
          by_change[n.change].push_back({{std::move(n.opts), bound}, runtime::hash_bytes(text)});
        else
          ++slower_, seen_.insert(text);
      }
    for (auto& [change, list] : by_change)
      std::ranges::sort(list, [](const RankedProposal& a, const RankedProposal& b) {
        return std::pair(a.proposal.bound, a.tie) < std::pair(b.proposal.bound, b.tie);
      });
    return by_change;
  }

  const codegen::Kernel& kernel_;
  const runtime::Target& target_;
  codegen::Neighborhood neighborhood_;
  codegen::TimeBound bound_;
  std::set<std::string> seen_;  ///< lists that were proposed or ruled out
  size_t slower_ = 0;
};

}  // namespace

std::unique_ptr<OptSource> neighbors_of_heuristic(const codegen::Kernel& kernel, const runtime::Target& target,
                                                  double peak) {
  return std::make_unique<NeighborSource>(kernel, target, peak ? peak : runtime::cpu::cached_roofline(1).flops * 1e-9);
}

}  // namespace sinter::plan
