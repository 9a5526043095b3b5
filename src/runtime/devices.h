// Which devices this process has, and copies between their memories.
#pragma once

#include <cstddef>
#include <string>

#include "sinter/device.h"

namespace sinter::runtime {

/// Empty if there is such a device; else that there is none, how many there are or why, and what to do.
std::string missing(Device device);

/// Copies bytes that do not overlap from one device's memory to another's or its own, in the order of their queues. The CPU
/// needs no queue: what lies there may be changed, or read, as soon as this returns. Throws BackendError.
void copy(Device to_device, void* to, Device from_device, const void* from, size_t bytes);

}  // namespace sinter::runtime
