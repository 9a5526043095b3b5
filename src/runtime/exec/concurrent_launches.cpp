// One group of the short launches. Then the others in order, as many per group as fit.
#include "runtime/exec/concurrent_launches.h"

#include <algorithm>

namespace sinter::runtime::cuda {
namespace {

/// in ns, a few times the overhead of a launch. A shorter launch ends before it disturbs any other.
constexpr double kShort = 5000;
constexpr double kThreads = 128;  ///< threads that one multiprocessor runs at full rate
constexpr double kBytes = 32;     ///< memory bandwidth in bytes per ns and multiprocessor

}  // namespace

double time_alone(const LaunchEstimate& l, int multiprocessors) {
  if (l.blocks <= 0) return 0;
  const double all = multiprocessors;
  const double busy = static_cast<double>(l.blocks) * std::min(static_cast<double>(l.threads), kThreads) / kThreads;
  return std::max(l.ns, l.bytes / (kBytes * all)) * all / std::clamp(busy, 1 / kThreads, all);
}

std::vector<LaunchGroup> group_launches(std::span<const LaunchEstimate> launches, int multiprocessors) {
  LaunchGroup all, brief, others;
  int64_t blocks = 0;
  for (size_t i = 0; i < launches.size(); ++i) {
    all.push_back(i);
    (time_alone(launches[i], multiprocessors) < kShort ? brief : others).push_back(i);
    blocks += launches[i].blocks;
  }
  if (all.empty()) return {};
  if (blocks <= multiprocessors || others.empty()) return {all};
  std::vector<LaunchGroup> out;
  if (!brief.empty()) out.push_back(std::move(brief));
  blocks = multiprocessors;
  for (const size_t i : others) {
    if (blocks + launches[i].blocks > multiprocessors) out.emplace_back(), blocks = 0;
    out.back().push_back(i);
    blocks += launches[i].blocks;
  }
  return out;
}

}  // namespace sinter::runtime::cuda
