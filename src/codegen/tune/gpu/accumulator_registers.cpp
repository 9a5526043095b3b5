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

/// What a statement needs of REDUCEs before it, by their positions.
struct Needs {
  std::vector<bool> complete;  ///< results: these have left their loops when it runs
  std::vector<bool> read;      ///< results, itself or from the tile of a STORE whose loops it may share
};

std::vector<Needs> needs_of(const std::vector<Statement>& list) {
  const size_t size = list.size();
  std::vector<Needs> all(size, {std::vector<bool>(size, false), std::vector<bool>(size, false)});
  for (size_t i = 0; i < size; ++i) {
    Needs& own = all[i];
    for (const Dependence& d : list[i].deps) {
      const auto on = static_cast<size_t>(d.on);
      const bool passes_on = d.reason == Dependence::Reason::Element && !list[on].is_reduce();
      for (size_t k = 0; k < on; ++k) {
        if (all[on].complete[k]) own.complete[k] = true;
        if (passes_on && all[on].read[k]) own.read[k] = true;
      }
      if (d.reason == Dependence::Reason::Value && !list[on].at_once()) own.complete[on] = true;
    }
    for (size_t m = 0; m < i; ++m)  // the loops of a tile that a complete REDUCE read have ended
      for (size_t k = 0; k < m && own.complete[m]; ++k)
        if (all[m].read[k]) own.read[k] = false;
    for (const Dependence& d : list[i].deps)
      if (list[d.on].is_reduce()) own.read[d.on] = true;
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
  const std::vector<Needs> needs = needs_of(list);
  std::vector<double> own(list.size(), 0), around = own, all = own;
  for (size_t i = list.size(); i-- > 0;) {
    if (!list[i].is_reduce()) continue;
    own[i] = own_registers(list[i], schedule, ranges);
    for (size_t u = i + 1; u < list.size(); ++u)
      if (needs[u].read[i] && list[u].is_reduce() && !list[u].carried() && list[u].own_depth < list[i].own_depth)
        around[i] = std::max(around[i], (list[u].at_once() ? 0 : own[u]) + around[u]);
  }
  for (size_t i = 0; i < list.size(); ++i)
    for (size_t k = 0; k < list.size(); ++k)
      if (list[i].is_reduce() && list[k].is_reduce() && list[i].loops == list[k].loops && !needs[i].complete[k] &&
          !needs[k].complete[i])
        all[i] += own[k] + (i == k || !list[i].at_once() ? around[k] : 0);
  return all;
}

}  // namespace sinter::codegen
