// What launches did, counted: a regression of performance that shows without a GPU.
#pragma once

#include <cstdint>

namespace sinter::runtime::cuda::sim {

/// A request is one memory instruction of one warp.
struct CostCounters {
  uint64_t launches = 0;
  uint64_t lane_instructions = 0;
  uint64_t barriers = 0;  ///< that a block completed
  uint64_t global_requests = 0;
  uint64_t sectors = 0;        ///< 32-byte pieces that the global requests touched
  uint64_t ideal_sectors = 0;  ///< that their bytes would fill without gaps
  uint64_t shared_requests = 0;
  uint64_t wavefronts = 0;        ///< passes over the 32 banks that the shared requests took
  uint64_t ideal_wavefronts = 0;  ///< that their bytes would take without conflicts
  uint64_t atomics = 0;           ///< lanes that did one

  CostCounters& operator+=(const CostCounters& other);
};

}  // namespace sinter::runtime::cuda::sim
