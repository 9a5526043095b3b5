// What libsinter and its plugin libsinter_cudasim share: plain types and a table. No object of the C++ library and no
// exception passes between them, since a program may bring its own allocator, and each may contain the C++ library.
#pragma once

#include <cstdint>

#include "runtime/cuda/driver_api.h"

namespace sinter::runtime::cuda::sim {

struct Settings {
  int devices = 1;                            ///< at most 8
  uint64_t memory = uint64_t{4} << 30;        ///< bytes per device
  uint64_t seed = 0;                          ///< for the order of warps; each launch derives its own
  bool check = true;                          ///< shadow memory: races and reads of bytes that were never written
  uint64_t instructions = uint64_t{1} << 31;  ///< limit for all warps of a launch; beyond it, LaunchTimeout
  int fail_allocation = 0;                    ///< the n-th mem_alloc from now on fails with OutOfMemory; 0: none
  int fail_launch = 0;  ///< the n-th launch from now on fails with LaunchFailed, which is sticky; 0: none
};

/// Work counters of launches. They reveal performance regressions without a GPU. A request is one memory instruction of
/// one warp.
struct CostCounters {
  uint64_t launches = 0;
  uint64_t lane_instructions = 0;
  uint64_t barriers = 0;  ///< completed by a block
  uint64_t global_requests = 0;
  uint64_t global_lanes = 0;   ///< lanes that took part in them
  uint64_t global_bytes = 0;   ///< of all lanes, each for itself
  uint64_t sectors = 0;        ///< 32-byte sectors touched by the global requests
  uint64_t ideal_sectors = 0;  ///< sectors that their bytes would fill without gaps
  uint64_t shared_requests = 0;
  uint64_t wavefronts = 0;        ///< passes over the 32 banks taken by the shared requests
  uint64_t ideal_wavefronts = 0;  ///< passes that their bytes would take without conflicts
  uint64_t atomics = 0;           ///< lanes that executed an atomic
  uint64_t matrix_steps = 0;      ///< mma.sync of a warp
};

/// The plugin's functions, as simulator.h has them. The caller gives each text back by free_text(). All are safe from
/// several threads.
struct SimulatorApi {
  const DriverApi* driver;
  CudaResult (*configure)(const Settings* settings);
  CudaResult (*settings)(Settings* out);
  CudaResult (*last_fault)(char** text);
  CudaResult (*leaks)(char** text);
  CudaResult (*counters)(const char* kernel, CostCounters* out);
  CudaResult (*clear_reports)();
  void (*free_text)(char* text);
};

/// The one symbol that the plugin exports, "sinter_cudasim". Null if it was built from other sources than those of
/// `build_id` (runtime/base/build_id.h).
using OpenSimulator = const SimulatorApi* (*)(const char* build_id);

}  // namespace sinter::runtime::cuda::sim
