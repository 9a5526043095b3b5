// What is alive, and which calls of the program made it.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "sinter/device.h"

namespace sinter::inline v0 {
/// What is alive, and which calls of the program made it.
namespace memory {

/// A call site of the program, and what it made that is alive. A new version of a tensor (an assign, an optimizer's
/// step) counts where the tensor was made. A call inside a layer counts where the layer was called. Equal values that
/// share a node count where the first was made.
struct Origin {
  std::string call;      ///< "Linear", "matmul"; for tensors made outside of calls, all four are empty
  std::string file;      ///< of the caller
  uint32_t line = 0;     ///< of the caller
  std::string function;  ///< of the caller, as its compiler spells it
  uint64_t bytes = 0;    ///< of the buffers, as the shapes need it
  uint64_t buffers = 0;  ///< pieces of memory that tensors hold
  uint64_t tensors = 0;  ///< tensors; handles that alias each other count once
  uint64_t nodes = 0;    ///< nodes of the tensor graph, computed or not, that a tensor or another node needs
};

/// Memory of one device. Sizes are in bytes.
struct DeviceUse {
  Device device;           ///< whose memory it is
  uint64_t allocated = 0;  ///< used by tensors, as the allocator rounds it, and by running plans
  uint64_t peak = 0;       ///< largest use so far
  uint64_t pooled = 0;     ///< freed, and cached for the next request
  uint64_t limit = 0;      ///< SINTER_MEMORY_LIMIT
};

/// The whole process at one moment. Sizes are in bytes.
struct Report {
  uint64_t bytes = 0;              ///< sum over the origins
  uint64_t buffers = 0;            ///< sum over the origins
  uint64_t tensors = 0;            ///< sum over the origins
  uint64_t nodes = 0;              ///< sum over the origins
  std::vector<DeviceUse> devices;  ///< the CPU, then the GPUs used so far
  std::vector<Origin> origins;     ///< largest first: by bytes, then nodes
};

/// Counts what is alive now. Realizes nothing; the cost is proportional to the number of call sites. Safe from several
/// threads.
/// @snippet training.cpp memory
Report report();

/// A line of sums, a line for each device, and a line for each origin.
std::string to_string(const Report& report);
std::ostream& operator<<(std::ostream& os, const Report& report);  ///< the same

/// Returns pooled memory, on all devices, to the system. Waits for GPUs.
void release_pool();

}  // namespace memory
}  // namespace sinter::inline v0
