// Which LOADs and stores are candidates; legality and time decide.
#include "codegen/tune/search/neighbours_memory.h"

#include <algorithm>
#include <array>

#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr std::array<int64_t, 2> kSteps = {4, 16};  ///< of the innermost loop, that a load asks ahead

/// Whether some range that the LOAD does not depend on goes through it again.
bool shared(View& view, UOp load) {
  return std::any_of(view.works().begin(), view.works().end(), [&](const Work& w) {
    return in(w.accesses, load) && std::any_of(view.ranges().begin(), view.ranges().end(),
                                               [&](UOp r) { return w.runs_over(r) && !view.depends(load, r); });
  });
}

/// The LOADs that statements make, each once.
std::vector<UOp> loads_of(const View& view) {
  std::vector<UOp> loads;
  for (const Work& w : view.works())
    for (UOp a : w.accesses)
      if (a->op == Op::Load && !in(loads, a)) loads.push_back(a);
  return loads;
}

}  // namespace

std::vector<Opt> stages_to_try(const Kernel& kernel, View& view, const std::vector<Opt>& given) {
  const Schedule schedule = make_schedule(kernel, given);
  std::vector<Opt> out;
  for (UOp load : loads_of(view)) {
    Stage stage;
    stage.value = number_of(kernel, load);
    const bool staged = std::any_of(schedule.stages.begin(), schedule.stages.end(),
                                    [&](const Stage& s) { return s.value == stage.value; });
    if (stage.value < 0 || staged || !shared(view, load)) continue;
    int together = 1;  // elements of the last dim that one step of its user reads
    for (const bool vectors : {false, true})
      for (const Axis& a : schedule.axes) {
        const bool covered = in(view.ranges(), a.range) && view.depends(load, a.range) && !(a.outer() && a.block == 1);
        if (!covered || (a.lanes > 1) != vectors) continue;
        for (Stage::Dim& d : stage.dims) d.lanes = 1;  // those of the last one
        stage.dims.push_back({range_id(a.range), a.levels() > 1 ? 0 : -1, a.lanes});
        together = static_cast<int>(a.width());
      }
    if (stage.dims.empty()) continue;
    out.emplace_back(stage);
    if (together == 1 || stage.dims.size() == 1) continue;
    stage.panel = together;
    out.emplace_back(stage);
  }
  return out;
}

std::vector<Opt> prefetches_to_try(const Kernel& kernel, View& view, const std::vector<Opt>& given) {
  const Schedule schedule = make_schedule(kernel, given);
  std::vector<Opt> out;
  for (UOp load : loads_of(view)) {
    const int number = number_of(kernel, load);
    const auto moves = [&](UOp r) { return view.depends(load, r); };
    const auto innermost = std::find_if(view.ranges().rbegin(), view.ranges().rend(), moves);
    if (number < 0 || schedule.ahead.contains(load.get()) || innermost == view.ranges().rend()) continue;
    const bool several = std::count_if(view.works().begin(), view.works().end(),
                                       [&](const Work& w) { return in(w.accesses, load); }) > 1;
    for (const int64_t steps : kSteps)
      for (const int loop : several ? std::vector{-1, 1} : std::vector{-1})
        out.emplace_back(Prefetch{number, range_id(*innermost), steps * schedule.of(*innermost).width(), loop});
  }
  return out;
}

std::vector<Opt> streams_to_try(const Kernel& kernel) {
  std::vector<Opt> out;
  for (size_t i = 0; i < kernel.sink->src.size(); ++i) out.emplace_back(Nt{static_cast<int>(i)});
  return out;
}

}  // namespace sinter::codegen
