// What lives, and which calls of the program made it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "sinter/device.h"

namespace sinter {
inline namespace v0 {
/// What lives, and which calls of the program made it.
namespace memory {

/// A call site of the program, and what lives that was made there. A new version of a tensor (an assign, an optimiser's
/// step) counts where the tensor was made; a call inside a layer counts where the layer was called; equal values that
/// share a node count where the first was made.
struct Origin {
  std::string call;      ///< "Linear", "matmul"; empty, as the rest, for what was made outside of calls
  std::string file;      ///< of the caller
  uint32_t line = 0;     ///< of the caller
  std::string function;  ///< of the caller, as its compiler spells it
  uint64_t bytes = 0;    ///< of the memory below, as the shapes ask for it
  uint64_t buffers = 0;  ///< pieces of memory that tensors hold
  uint64_t tensors = 0;  ///< tensors: handles that alias one another count once
  uint64_t nodes = 0;    ///< of the tensor graph: values, computed or not, that a tensor or another value needs
};

/// Memory of one device. Sizes are bytes.
struct DeviceUse {
  Device device;           ///< whose memory it is
  uint64_t allocated = 0;  ///< in use: by tensors, as the allocator rounds them, and by plans that run just now
  uint64_t peak = 0;       ///< the most that was in use at once
  uint64_t pooled = 0;     ///< freed, and kept for the next request
  uint64_t limit = 0;      ///< SINTER_MEMORY_LIMIT
};

/// The whole process at one moment. Sizes are bytes.
struct Report {
  uint64_t bytes = 0;              ///< sum over the origins
  uint64_t buffers = 0;            ///< sum over the origins
  uint64_t tensors = 0;            ///< sum over the origins
  uint64_t nodes = 0;              ///< sum over the origins
  std::vector<DeviceUse> devices;  ///< the CPU, then the GPUs that were used so far
  std::vector<Origin> origins;     ///< what holds most comes first: by bytes, then nodes
};

/// Counts what lives now. Realises nothing; costs as much as there are call sites. Safe from several threads.
/// @snippet training.cpp memory
Report report();

/// A line of sums, a line for each device, and a line for each origin.
std::string to_string(const Report& report);
std::ostream& operator<<(std::ostream& os, const Report& report);  ///< the same

/// Gives what is pooled, on all devices, back to the system. Waits for GPUs.
void release_pool();

}  // namespace memory
}  // namespace v0
}  // namespace sinter
