// Memory of one GPU for buffers: pooled, 256-byte aligned, limited.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/cuda/driver.h"

namespace sinter::runtime::cuda {

class Context;

/// Sizes in bytes, counting whole blocks: a request is rounded up to its size class.
struct DeviceMemoryStats {
  uint64_t live = 0;    ///< in use
  uint64_t peak = 0;    ///< maximum of `live`
  uint64_t cached = 0;  ///< freed and kept for later requests
  uint64_t blocks = 0;  ///< number of blocks in use
  uint64_t limit = 0;   ///< the limit that SINTER_MEMORY_LIMIT sets
  uint64_t total = 0;   ///< memory of the device
};

/// The memory pool of a device. A freed block may be reused at once although kernels still use it: its next user comes
/// later on the same stream. Only returning memory to the driver waits. With SINTER_CHECK=1 no block is reused, and
/// each launch returns the free blocks to the driver, so tools detect use after free. Safe from several threads.
class DeviceAllocator {
 public:
  explicit DeviceAllocator(Context& context) : context_(context) {}

  /// Returns at least `bytes` bytes with undefined contents. Zero bytes are a valid request. If memory runs out, the
  /// cached blocks are returned to the driver. If that does not help, throws OutOfMemory with the request, the live
  /// bytes and the largest holders.
  DevicePointer allocate(size_t bytes);

  /// Frees a block. `bytes` is the size passed to allocate(). On a lost device there is nothing to free.
  void deallocate(DevicePointer block, size_t bytes) noexcept;

  DeviceMemoryStats stats() const;
  /// Two fields of stats(), without taking a lock.
  uint64_t live() const { return live_.load(std::memory_order_relaxed); }
  uint64_t limit() const;

  /// Waits for the device and returns cached blocks to the driver.
  void release();
  /// The same without waiting, when the context is destroyed.
  void abandon();

 private:
  DevicePointer take(size_t size, uint64_t limit);
  void drop();

  Context& context_;
  mutable std::mutex mutex_;
  std::unordered_map<size_t, std::vector<DevicePointer>> free_;
  std::atomic<uint64_t> live_{0};  ///< written under the mutex
  uint64_t peak_ = 0, cached_ = 0, blocks_ = 0;
};

}  // namespace sinter::runtime::cuda
