#include "runtime/exec/work_split.h"

#include <algorithm>
#include <tuple>

namespace sinter::runtime::cpu {
namespace {

constexpr int64_t kMaxChunks = 16;  ///< maximum per kernel and thread

/// Splits the tasks [begin, end) into chunks of equal size, each worth a thread unless the whole range is not.
void cut(std::vector<WorkChunk>& out, const WorkChunk& all, const StepCost& cost) {
  const int64_t size = all.end - all.begin, chunks = std::clamp<int64_t>(size / cost.grain, 1, kMaxChunks);
  for (int64_t i = 0; i < chunks; ++i) {
    WorkChunk p = all;
    p.begin = all.begin + size * i / chunks;
    p.end = all.begin + size * (i + 1) / chunks;
    p.time = cost.work_units * static_cast<double>(p.end - p.begin) / static_cast<double>(cost.tasks);
    out.push_back(p);
  }
}

}  // namespace

std::vector<WorkChunk> split_work(std::span<const StepCost* const> costs, int threads) {
  std::vector<WorkChunk> all, few;
  for (size_t i = 0; i < costs.size(); ++i) {
    const StepCost& cost = *costs[i];
    if (cost.tasks == 0) continue;
    if (cost.tasks / cost.grain < threads)
      cut(few, {i, 0, cost.tasks, 0, 0}, cost);
    else
      for (int p = 0; p < threads; ++p)
        cut(all, {i, cost.tasks * p / threads, cost.tasks * (p + 1) / threads, 0, p}, cost);
  }
  const auto longer = [](const WorkChunk& a, const WorkChunk& b) {
    return std::tuple(-a.time, a.kernel, a.begin) < std::tuple(-b.time, b.kernel, b.begin);
  };
  std::vector<double> busy(static_cast<size_t>(threads));
  for (const WorkChunk& p : all) busy[p.thread] += p.time;
  std::ranges::sort(few, longer);
  for (WorkChunk& p : few) {
    const auto least = std::ranges::min_element(busy);
    *least += p.time;
    p.thread = static_cast<int>(least - busy.begin());
    all.push_back(p);
  }
  std::ranges::sort(all, [&](const WorkChunk& a, const WorkChunk& b) {
    return a.thread != b.thread ? a.thread < b.thread : longer(a, b);
  });
  return all;
}

}  // namespace sinter::runtime::cpu
