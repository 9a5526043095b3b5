// Memory of one GPU for buffers: pooled, 256-byte aligned, under a limit.
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

/// Bytes as the blocks behind them have them: a request is rounded up to its size class.
struct DeviceMemoryStats {
  uint64_t live = 0;    ///< in use
  uint64_t peak = 0;    ///< the most that was in use at once
  uint64_t cached = 0;  ///< freed and kept for the next request
  uint64_t blocks = 0;  ///< in use
  uint64_t limit = 0;   ///< what SINTER_MEMORY_LIMIT leaves of it
  uint64_t total = 0;   ///< what the device has
};

/// The pool of a device. A freed block may be handed out again at once, although kernels still use it: whoever gets it
/// comes later on the same stream. Only giving memory back to the driver waits. With SINTER_CHECK=1 no block is handed
/// out again, and each launch gives back what is free, so that tools see who uses it after. Safe from several threads.
class DeviceAllocator {
 public:
  explicit DeviceAllocator(Context& context) : context_(context) {}

  /// At least `bytes` bytes, contents undefined; zero bytes are a valid block too. When there is no more memory, gives
  /// back what is cached, and then throws OutOfMemory with what was asked, what is live and who holds most of it.
  DevicePointer allocate(size_t bytes);

  /// Takes a block back; `bytes` as it was asked for. Of a lost device nothing is left to free.
  void deallocate(DevicePointer block, size_t bytes) noexcept;

  DeviceMemoryStats stats() const;
  /// Two of its fields, without a lock.
  uint64_t live() const { return live_.load(std::memory_order_relaxed); }
  uint64_t limit() const;

  /// Waits for the device and gives the freed blocks back to the driver.
  void release();
  /// The same without waiting, when the context ends.
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
