// Distributes the tasks of concurrent kernels over threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/exec/step_cost.h"

namespace sinter::runtime::cpu {

/// Tasks of one kernel that one thread runs.
struct WorkChunk {
  size_t kernel;  ///< index into `costs`
  int64_t begin, end;
  double time;     ///< expected, in units worth a thread
  int thread = 0;  ///< the thread that starts with it
};

/// All tasks of some kernels. `threads` is at least 1.
///
/// Each thread gets an equal, contiguous part of every kernel, as ThreadPool::run() splits a single one. It is the same
/// part in every launch, so that data the thread wrote is still in its own cache. Kernels with less than one unit per
/// thread go to the least loaded threads. The result is sorted by thread, longest chunks first, so that the short ones
/// even out the ends.
std::vector<WorkChunk> split_work(std::span<const StepCost* const> costs, int threads);

}  // namespace sinter::runtime::cpu
