// Where neighboring threads hold results that lie far from each other, each store of a warp touches many sectors. By
// way of a tile in shared memory the block writes the same results in the order of memory.
#include <algorithm>

#include "codegen/kernel/access.h"
#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/tune/gpu/gpu_clocks.h"
#include "codegen/tune/gpu/staging.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kVector = 16;  ///< bytes

/// The dims of a store's results in a task, in the order of memory. Empty if a tile cannot have them.
std::vector<StagedDim> dims_of_results(TuneSpace& space, UOp store, const LoopSchedule& schedule) {
  std::vector<StagedDim> dims;
  for (const LoopAxis& a : schedule.axes) {
    const int64_t extent = a.outer() ? a.block : a.size;
    if (!space.analysis.depends(store, a.range) || extent == 1) continue;
    if (!(a.warp == WarpDigits{}) || a.size == 0 || a.size % extent) return {};
    dims.push_back({a.range, -1, extent, {a.range, a.lanes, a.unroll, a.threads, a.thread_stride}});
  }
  const auto stride = [&](const StagedDim& d) { return space.analysis.stride(store, d.range); };
  std::ranges::sort(dims, [&](const StagedDim& a, const StagedDim& b) { return stride(a) > stride(b); });
  return dims;
}

/// Whether a warp's store touches parts of sectors. Not if a thread stores whole vectors: half a sector each is no
/// worse than the banks that results of many rows meet.
bool is_scattered(TuneSpace& space, UOp store, const std::vector<StagedDim>& dims) {
  const auto size = static_cast<int64_t>(size_of(store->src[0]->dtype));
  const RangeShare& row = dims.back().read;
  if (space.analysis.stride(store, row.range) == 1 && size *
                                                              (row.lanes > 1      ? row.lanes
                                                               : row.threads == 1 ? row.unroll
                                                                                  : 1) %
                                                              kVector ==
                                                          0)
    return false;
  int64_t elements = 1, run = 1;  // that a warp stores side by side; of whole dims
  for (size_t d = dims.size(); d-- > 0 && space.analysis.stride(store, dims[d].range) == run;) {
    const RangeShare& s = dims[d].read;
    elements = run * s.lanes * (s.stride < kWarp ? std::min(s.threads, kWarp / s.stride) : 1);
    run *= dims[d].extent;
    if (elements < run) break;
  }
  return elements * size < kSector;
}

}  // namespace

std::optional<Candidate> with_staged_results(TuneSpace& space, const Candidate& candidate) {
  Candidate made{candidate.generator, candidate.opts};
  const LoopSchedule schedule = make_loop_schedule(space.kernel, candidate.opts);
  for (UOp store : space.kernel.sink->src) {
    if (predicate_of(store) || store->integer() != 0) continue;
    const std::vector<StagedDim> dims = dims_of_results(space, store, schedule);
    if (dims.size() < 2 || !is_scattered(space, store, dims)) continue;
    if (const std::optional<TileCopy> copy = stage_value(space, store, dims, schedule.threads))
      made.opts.emplace_back(*copy);
  }
  return made.opts.size() > candidate.opts.size() ? std::optional(made) : std::nullopt;
}

}  // namespace sinter::codegen
