// The global memory of one simulated device: allocations by address. Addresses are never reused, so use after free is
// distinguished from out of bounds.
#pragma once

#include <map>

#include "cudasim/regions.h"

namespace sinter::runtime::cuda::sim {

// Where the state spaces begin among generic addresses.
constexpr uint64_t kSharedWindow = uint64_t{1} << 40, kLocalWindow = uint64_t{2} << 40,
                   kGlobalWindow = uint64_t{16} << 40;
constexpr uint64_t kWindowBytes = uint64_t{1} << 32;  ///< of the shared and of the local window
constexpr uint64_t kDeviceBytes = uint64_t{1} << 40;  ///< address range of one device

class DeviceMemory {
 public:
  DeviceMemory(int device, uint64_t total)
      : next_(kGlobalWindow + static_cast<uint64_t>(device) * kDeviceBytes), total_(total) {}

  /// Null if there is no room for `bytes` more. The start is aligned to 512 bytes, as a driver's.
  MemoryRegion* allocate(uint64_t bytes);
  /// False if `address` is not the start of a live allocation.
  bool free(uint64_t address);
  /// The allocation that contains `address`, or null.
  MemoryRegion* find(uint64_t address);
  /// The allocations at and around an address, for messages.
  std::string describe(uint64_t address) const;

  uint64_t used() const { return used_; }
  uint64_t total() const { return total_; }
  void set_total(uint64_t bytes) { total_ = bytes; }
  const std::map<uint64_t, std::unique_ptr<MemoryRegion>>& live() const { return live_; }

 private:
  std::map<uint64_t, std::unique_ptr<MemoryRegion>> live_;
  std::map<uint64_t, uint64_t> freed_;  // start -> bytes; the oldest are dropped
  uint64_t next_, used_ = 0, total_;
};

}  // namespace sinter::runtime::cuda::sim
