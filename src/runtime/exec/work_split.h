// How the tasks of kernels that run together are given to threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/exec/step_cost.h"

namespace sinter::runtime::cpu {

/// Tasks of a kernel, which one thread computes.
struct WorkChunk {
  size_t kernel;  ///< its place among the costs
  int64_t begin, end;
  double time;     ///< expected, in units that are worth a thread
  int thread = 0;  ///< the thread that begins with them
};

/// All tasks of some kernels, for at least one thread: each has as much of a kernel as the others, side by side, as
/// ThreadPool::run() cuts one alone, and the same part in each launch, so that what it wrote is in its own cache when
/// it comes again. Kernels with less than a unit for each go where there is least. Thread by thread, the longest chunks
/// first, so that the short ones even out when all end.
std::vector<WorkChunk> split_work(std::span<const StepCost* const> costs, int threads);

}  // namespace sinter::runtime::cpu
