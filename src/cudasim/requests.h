// The cost of a warp's memory request: sectors of global memory, bank passes of shared memory.
#pragma once

#include "cudasim/launch.h"

namespace sinter::runtime::cuda::sim {

/// `bytes` bytes at each of `count` addresses (at most 32).
void count_global(CostCounters& counters, const uint64_t* addresses, int count, uint64_t bytes);
void count_shared(CostCounters& counters, const uint64_t* addresses, int count, uint64_t bytes);

}  // namespace sinter::runtime::cuda::sim
