// How the tasks of kernels that run together are given to threads.
#include "runtime/exec/work_split.h"

#include <algorithm>

#include "catch.h"

using sinter::runtime::StepCost;
using sinter::runtime::cpu::WorkChunk, sinter::runtime::cpu::split_work;

namespace {

StepCost cost(int64_t tasks, int64_t grain, double work_units) {
  StepCost made;
  made.tasks = tasks, made.grain = grain, made.work_units = work_units;
  return made;
}

}  // namespace

TEST_CASE("each task of kernels that run together is in one chunk, and chunks are no smaller than is worth a thread",
          "[runtime]") {
  const std::vector<StepCost> costs{cost(17, 1, 80), cost(290, 7, 40), cost(1, 1, 1),
                                    cost(5, 3, 1.5), cost(0, 1, 0),    cost(100000, 1, 3000)};
  std::vector<const StepCost*> given;
  for (const StepCost& l : costs) given.push_back(&l);
  const int threads = GENERATE(1, 2, 3, 7, 64);
  const std::vector<WorkChunk> chunks = split_work(given, threads);
  for (size_t k = 0; k < costs.size(); ++k) {
    std::vector<WorkChunk> own;
    std::copy_if(chunks.begin(), chunks.end(), std::back_inserter(own),
                 [k](const WorkChunk& p) { return p.kernel == k; });
    std::sort(own.begin(), own.end(), [](const WorkChunk& a, const WorkChunk& b) { return a.begin < b.begin; });
    int64_t next = 0;
    double time = 0;
    for (const WorkChunk& p : own) {
      CHECK(p.begin == next);
      CHECK(p.end > p.begin);
      CHECK((p.end - p.begin >= costs[k].grain || p.end - p.begin == costs[k].tasks));
      CHECK((p.thread >= 0 && p.thread < threads));
      next = p.end;
      time += p.time;
    }
    CHECK(next == costs[k].tasks);
    CHECK(time == Approx(costs[k].work_units));
    CHECK(own.size() <= static_cast<size_t>(16 * threads));
  }
}

TEST_CASE("a thread has one part of each long kernel, as much as the others, and short kernels go where there is least",
          "[runtime]") {
  const StepCost large = cost(333, 10, 100), two = cost(2, 1, 9), one = cost(1, 1, 2), odd = cost(31, 10, 3);
  const StepCost* const given[] = {&one, &large, &two, &odd, &one};
  const int threads = GENERATE(2, 3, 4);
  const std::vector<WorkChunk> chunks = split_work(given, threads);
  std::vector<std::pair<int64_t, int64_t>> part(static_cast<size_t>(threads), {333, 0});  // of the large one
  std::vector<double> busy(static_cast<size_t>(threads));
  for (const WorkChunk& p : chunks) {
    busy[static_cast<size_t>(p.thread)] += p.time;
    if (p.kernel != 1) continue;
    auto& [begin, end] = part[static_cast<size_t>(p.thread)];
    begin = std::min(begin, p.begin), end = std::max(end, p.end);
  }
  for (int i = 0; i < threads; ++i)
    CHECK(part[static_cast<size_t>(i)] == std::pair(int64_t{333} * i / threads, int64_t{333} * (i + 1) / threads));
  CHECK(*std::max_element(busy.begin(), busy.end()) - *std::min_element(busy.begin(), busy.end()) <=
        4.5);  // the longest short chunk
  for (size_t i = 1; i < chunks.size(); ++i)
    CHECK((chunks[i - 1].thread < chunks[i].thread ||
           (chunks[i - 1].thread == chunks[i].thread && chunks[i - 1].time >= chunks[i].time)));
}
