// The simulated driver: the table of the CUDA driver API on top of a PTX interpreter, and the interface for tests.
//
// Work on streams runs as late as the API permits: when it is waited for or queried. One lock guards everything, so all
// functions are safe from several threads.
#pragma once

#include <cstdint>
#include <string>

#include "cudasim/cost_counters.h"
#include "runtime/cuda/driver.h"

namespace sinter::runtime::cuda {

/// Devices of compute capability 9.0 whose modules are PTX text. No field is null.
const DriverApi& simulated_driver();

namespace sim {

struct Settings {
  int devices = 1;                            ///< at most 8
  uint64_t memory = uint64_t{4} << 30;        ///< bytes per device
  uint64_t seed = 0;                          ///< for the order of warps; each launch derives its own
  bool check = true;                          ///< shadow memory: races and reads of bytes that were never written
  uint64_t instructions = uint64_t{1} << 31;  ///< limit for all warps of a launch; beyond it, LaunchTimeout
  int fail_allocation = 0;                    ///< the n-th mem_alloc from now on fails with OutOfMemory; 0: none
  int fail_launch = 0;  ///< the n-th launch from now on fails with LaunchFailed, which is sticky; 0: none
};

/// Takes effect at the next call. Objects on the devices stay, and so does the memory of a context in use.
void configure(const Settings& settings);
Settings settings();

/// The last fault, with kernel, block, thread, instruction and line, or the reason why the last module was rejected.
/// Empty if there is none.
std::string last_fault();

/// What was still allocated when a device's primary context was last released completely, as text; empty if nothing.
/// Accumulated over all devices until clear_reports().
std::string leaks();

/// The counters of all launches of the kernel since clear_reports(), over all devices.
CostCounters counters(const std::string& kernel);

/// Clears faults, leaks and counters. A context that a fault has made unusable stays unusable until it is released.
void clear_reports();

}  // namespace sim
}  // namespace sinter::runtime::cuda
