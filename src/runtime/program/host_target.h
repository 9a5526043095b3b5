// The Target of each device of this process.
#pragma once

#include "runtime/base/target.h"
#include "sinter/device.h"

namespace sinter::runtime {

/// This machine, with the threads and the compiler that the environment asks for. Stays valid when it is another one
/// later. Throws UsageError on a bad environment.
const Target& host_target();

/// That of the device, as long as it is in use: host_target() for the CPU. Throws for one that does not exist.
const Target& target_of(Device device);

/// From now on host_target() is this, for plans that must not depend on where they are made (tests that count
/// launches); null: the host again. The caller keeps it alive; its ISA must be one that the host has.
void set_host_target(const Target* target);

}  // namespace sinter::runtime
