// The simulated GPU: the plugin libsinter_cudasim (src/cudasim), opened at the first call and never closed. Each
// function throws BackendError, with the places that were searched, if there is no plugin of this build.
#pragma once

#include <string>

#include "runtime/cuda/driver_api.h"
#include "runtime/cuda/simulator_api.h"

namespace sinter::runtime::cuda {

/// Devices of compute capability 9.0 whose modules are PTX text. No field is null. Work on streams runs as late as the
/// API permits: when it is waited for or queried. One lock guards everything, so all functions are safe from several
/// threads.
const DriverApi& simulated_driver();

/// The interface for tests.
namespace sim {

/// Takes effect at the next call. Objects on the devices stay, and so does the memory of a context in use.
void configure(const Settings& settings);
Settings settings();

/// The last fault, with kernel, block, thread, instruction and line, or the reason why the last module was rejected.
/// Empty if there is none.
std::string last_fault();

/// The same if `driver` is the simulated one, otherwise empty. Opens no plugin.
std::string last_fault_of(const DriverApi& driver);

/// What was still allocated when a device's primary context was last released completely, as text; empty if nothing.
/// Accumulated over all devices until clear_reports().
std::string leaks();

/// The counters of all launches of the kernel since clear_reports(), over all devices.
CostCounters counters(const std::string& kernel);

/// Clears faults, leaks and counters. A context that a fault has made unusable stays unusable until it is released.
void clear_reports();

}  // namespace sim
}  // namespace sinter::runtime::cuda
