// The Target of each device of this process.
#pragma once

#include "runtime/base/target.h"
#include "sinter/device.h"

namespace sinter::runtime {

/// This machine, with the threads and the compiler that the environment selects. The reference stays valid after the
/// environment changes. Throws UsageError on a bad environment.
const Target& host_target();

/// The Target of the device, valid as long as the device is in use: host_target() for the CPU. Throws if the device
/// does not exist.
const Target& target_of(Device device);

/// Overrides host_target(), for plans that must not depend on the machine (tests that count launches); null restores
/// the host. The caller keeps `target` alive. Its ISA must be one that the host supports.
void set_host_target(const Target* target);

}  // namespace sinter::runtime
