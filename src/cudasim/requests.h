// What a warp's request costs a memory system: sectors of global memory, passes over the banks of shared memory.
#pragma once

#include "cudasim/launch.h"

namespace sinter::runtime::cuda::sim {

/// `bytes` bytes at each of `count` addresses (at most 32).
void count_global(CostCounters& counters, const uint64_t* addresses, int count, uint64_t bytes);
void count_shared(CostCounters& counters, const uint64_t* addresses, int count, uint64_t bytes);

}  // namespace sinter::runtime::cuda::sim
