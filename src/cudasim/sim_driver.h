// The simulated driver: the table of the CUDA driver API over an interpreter of PTX, and what tests say to it and ask
// of it.
//
// Work on streams runs as late as the API permits: when somebody waits for it or asks for it. One lock guards
// everything, so that all functions may be called from several threads.
#pragma once

#include <cstdint>
#include <string>

#include "cudasim/cost_counters.h"
#include "runtime/cuda/driver.h"

namespace sinter::runtime::cuda {

/// Devices of compute capability 9.0 whose modules are PTX text. Never null in any field.
const DriverApi& simulated_driver();

namespace sim {

struct Settings {
  int devices = 1;                            ///< at most 8
  uint64_t memory = uint64_t{4} << 30;        ///< bytes that each device has
  uint64_t seed = 0;                          ///< of the order in which warps run; each launch draws its own from it
  bool check = true;                          ///< shadow memory: races and reads of what was never written
  uint64_t instructions = uint64_t{1} << 31;  ///< that the warps of one launch may run together: more is LaunchTimeout
  int fail_allocation = 0;                    ///< the n-th mem_alloc from now on fails with OutOfMemory; 0: none
  int fail_launch = 0;  ///< the n-th launch from now on ends with LaunchFailed, which is sticky; 0: none
};

/// Takes effect at the next call. What lives on the devices stays, and so does the memory of a context that is in use.
void configure(const Settings& settings);
Settings settings();

/// What the last fault was, with kernel, block, thread, instruction and line; or why the last module was refused.
/// Empty: none.
std::string last_fault();

/// What lived on a device when its primary context was last released for good, in words; empty: nothing. Devices count
/// together until clear_reports().
std::string leaks();

/// Of all launches of the kernel since clear_reports(), on all devices.
CostCounters counters(const std::string& kernel);

/// Forgets faults, leaks and counters. A context that a fault has made unusable stays so until it is released.
void clear_reports();

}  // namespace sim
}  // namespace sinter::runtime::cuda
