// Selects the LOADs and stores that are candidates. Legality and measurements decide afterward.
#include "codegen/tune/search/neighbors_memory.h"

#include <algorithm>
#include <array>

#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

constexpr std::array<int64_t, 2> kSteps = {4, 16};  ///< prefetch distances, in steps of the innermost loop

/// Whether a statement that reads the LOAD runs over a range on which the LOAD does not depend.
bool is_reused(KernelAnalysis& analysis, UOp load) {
  return std::ranges::any_of(analysis.statements(), [&](const StatementAnalysis& w) {
    return contains(w.accesses, load) &&
           std::ranges::any_of(analysis.ranges(), [&](UOp r) { return w.runs_over(r) && !analysis.depends(load, r); });
  });
}

/// The LOADs of all statements, each once.
std::vector<UOp> loads_of(const KernelAnalysis& analysis) {
  std::vector<UOp> loads;
  for (const StatementAnalysis& w : analysis.statements())
    for (UOp a : w.accesses)
      if (a->op == Op::Load && !contains(loads, a)) loads.push_back(a);
  return loads;
}

}  // namespace

std::vector<Opt> tile_copies_to_try(const Kernel& kernel, KernelAnalysis& analysis, const std::vector<Opt>& given) {
  const LoopSchedule schedule = make_loop_schedule(kernel, given);
  std::vector<Opt> out;
  for (UOp load : loads_of(analysis)) {
    TileCopy tile_copy;
    tile_copy.value = node_index_of(kernel, load);
    const bool staged =
        std::ranges::any_of(schedule.tile_copies, [&](const TileCopy& s) { return s.value == tile_copy.value; });
    if (tile_copy.value < 0 || staged || !is_reused(analysis, load)) continue;
    int together = 1;  // elements of the last dim that one step of the consumer reads
    for (const bool vectors : {false, true})
      for (const LoopAxis& a : schedule.axes) {
        const bool covered = contains(analysis.ranges(), a.range) && analysis.depends(load, a.range) && !a.single();
        if (!covered || (a.lanes > 1) != vectors) continue;
        for (TileCopy::CopyDim& d : tile_copy.dims) d.lanes = 1;  // only the last dim has lanes
        tile_copy.dims.push_back({range_id(a.range), a.levels() > 1 ? 0 : -1, a.lanes});
        together = static_cast<int>(a.width());
      }
    if (tile_copy.dims.empty()) continue;
    out.emplace_back(tile_copy);
    if (together == 1 || tile_copy.dims.size() == 1) continue;
    tile_copy.panel = together;
    out.emplace_back(tile_copy);
  }
  return out;
}

std::vector<Opt> prefetches_to_try(const Kernel& kernel, KernelAnalysis& analysis, const std::vector<Opt>& given) {
  const LoopSchedule schedule = make_loop_schedule(kernel, given);
  std::vector<Opt> out;
  for (UOp load : loads_of(analysis)) {
    const int number = node_index_of(kernel, load);
    const auto moves = [&](UOp r) { return analysis.depends(load, r); };
    const auto innermost = std::find_if(analysis.ranges().rbegin(), analysis.ranges().rend(), moves);
    if (number < 0 || schedule.prefetches.contains(load.get()) || innermost == analysis.ranges().rend()) continue;
    const bool several = std::ranges::count_if(analysis.statements(), [&](const StatementAnalysis& w) {
                           return contains(w.accesses, load);
                         }) > 1;
    for (const int64_t steps : kSteps)
      for (const int loop : several ? std::vector{-1, 1} : std::vector{-1})
        out.emplace_back(Prefetch{number, range_id(*innermost), steps * schedule.of(*innermost).width(), loop});
  }
  return out;
}

std::vector<Opt> nontemporal_stores_to_try(const Kernel& kernel) {
  std::vector<Opt> out;
  out.reserve(kernel.sink->src.size());
  for (size_t i = 0; i < kernel.sink->src.size(); ++i) out.emplace_back(NonTemporal{static_cast<int>(i)});
  return out;
}

}  // namespace sinter::codegen
