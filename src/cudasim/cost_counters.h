// Work counters of launches. They reveal performance regressions without a GPU.
#pragma once

#include <cstdint>

namespace sinter::runtime::cuda::sim {

/// A request is one memory instruction of one warp.
struct CostCounters {
  uint64_t launches = 0;
  uint64_t lane_instructions = 0;
  uint64_t barriers = 0;  ///< completed by a block
  uint64_t global_requests = 0;
  uint64_t sectors = 0;        ///< 32-byte sectors touched by the global requests
  uint64_t ideal_sectors = 0;  ///< sectors that their bytes would fill without gaps
  uint64_t shared_requests = 0;
  uint64_t wavefronts = 0;        ///< passes over the 32 banks taken by the shared requests
  uint64_t ideal_wavefronts = 0;  ///< passes that their bytes would take without conflicts
  uint64_t atomics = 0;           ///< lanes that executed an atomic

  CostCounters& operator+=(const CostCounters& other);
};

}  // namespace sinter::runtime::cuda::sim
