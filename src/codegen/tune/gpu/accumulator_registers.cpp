#include "codegen/tune/gpu/accumulator_registers.h"

#include <algorithm>

#include "codegen/nest/shared_accumulator.h"
#include "ir/combine.h"

namespace sinter::codegen {
namespace {

double own_registers(const Statement& s, const LoopSchedule& schedule, FreeRanges& ranges) {
  const std::vector<ThreadLoop> loops = thread_loops_of(s, schedule, ranges);
  double all = 0;
  for (size_t k = 0; k < ir::accumulator_types(s.node).size(); ++k) {
    double each = chains_per_thread(s, loops);
    const ir::UOp source = followed_source(s, k, ranges);
    for (const ThreadLoop& t : loops)
      if (!t.own && (!source || ranges.depends(source, t.range))) each *= t.copies;
    all += each;
  }
  return all;
}

}  // namespace

double chains_per_thread(const Statement& s, const std::vector<ThreadLoop>& loops) {
  const int lanes = s.node->reduction().tree.lanes;
  int threads = 1;
  for (const ThreadLoop& t : loops)
    if (t.own) threads *= t.threads();
  return std::max(1.0, static_cast<double>(lanes) / threads);
}

std::vector<double> accumulator_registers(const Statements& statements, const LoopSchedule& schedule,
                                          FreeRanges& ranges) {
  const std::vector<Statement>& list = statements.list;
  std::vector<double> own(list.size(), 0), around = own, all = own;
  for (size_t i = list.size(); i-- > 0;) {
    if (!list[i].is_reduce()) continue;
    own[i] = own_registers(list[i], schedule, ranges);
    for (size_t u = i + 1; u < list.size(); ++u) {
      const bool reads = std::any_of(list[u].deps.begin(), list[u].deps.end(),
                                     [&](const Dependence& d) { return d.on == static_cast<int>(i); });
      if (reads && list[u].is_reduce() && !list[u].carried() && list[u].own_depth < list[i].own_depth)
        around[i] = std::max(around[i], (list[u].at_once() ? 0 : own[u]) + around[u]);
    }
  }
  for (size_t i = 0; i < list.size(); ++i)
    for (size_t k = 0; k < list.size(); ++k)
      if (list[i].is_reduce() && list[k].is_reduce() && list[i].loops == list[k].loops)
        all[i] += own[k] + (i == k || !list[i].at_once() ? around[k] : 0);
  return all;
}

}  // namespace sinter::codegen
