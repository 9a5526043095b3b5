// Which devices this process has, how full they are, and copies between their memories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sinter/device.h"

namespace sinter::runtime {

/// Empty if there is such a device; else that there is none, how many there are or why, and what to do.
std::string why_unavailable(Device device);

/// Copies bytes that do not overlap from one device's memory to another's or its own, in the order of their queues. The
/// CPU needs no queue: what lies there may be changed, or read, as soon as this returns. Throws BackendError.
void copy(Device to_device, void* to, Device from_device, const void* from, size_t bytes);

/// Memory of a device that buffers have, and its limit, in bytes.
struct MemoryUsage {
  Device device;
  uint64_t live, limit;
  /// 1: all that is allowed.
  double share() const { return static_cast<double>(live) / static_cast<double>(limit); }
};
/// Of the devices in use the one whose share is largest. Takes no lock where there is only the CPU.
MemoryUsage fullest_device();

}  // namespace sinter::runtime
