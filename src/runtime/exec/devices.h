// The devices of this process, their memory use, and copies between their memories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sinter/device.h"

namespace sinter::runtime {

/// Empty if the device exists. Otherwise a message: there is none, how many there are or why, and the remedy.
std::string why_unavailable(Device device);

/// The model of the CPU or GPU: what times depend on beside the Target.
std::string model_of(Device device);

/// Copies non-overlapping bytes within one device's memory or between two, in stream order. The CPU has no stream: CPU
/// memory may be read or modified as soon as this returns. Throws BackendError.
void copy(Device to_device, void* to, Device from_device, const void* from, size_t bytes);

/// Bytes that buffers hold on a device, and the limit.
struct MemoryUsage {
  Device device;
  uint64_t live, limit;
  /// 1 means that the limit is reached.
  double share() const { return static_cast<double>(live) / static_cast<double>(limit); }
};
/// The device in use with the largest share. Takes no lock if only the CPU is in use.
MemoryUsage fullest_device();

}  // namespace sinter::runtime
