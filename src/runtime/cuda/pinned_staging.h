// Copies between host and device through pinned memory, which the device accesses directly. While one chunk is
// transferred, the next one is filled.
#pragma once

#include <cstddef>
#include <mutex>

#include "runtime/cuda/driver.h"

namespace sinter::runtime::cuda {

class Context;

class PinnedStaging {
 public:
  explicit PinnedStaging(Context& context) : context_(context) {}

  /// Puts the copy on the stream. Returns as soon as `from` may be modified.
  void to_device(DevicePointer to, const void* from, size_t bytes);
  /// Returns when `to` is filled.
  void to_host(void* to, DevicePointer from, size_t bytes);
  /// Call before the context is destroyed.
  void release();

 private:
  static constexpr size_t kChunk = 4 << 20, kAlignment = 256;
  struct PinnedChunk {
    std::byte* memory = nullptr;
    EventHandle done = nullptr;  ///< completion of the last copy that used it
  };
  void prepare();

  Context& context_;
  std::mutex mutex_;
  PinnedChunk chunks_[2];
  size_t current_ = 0, used_ = 0;  ///< the chunk being filled for the device, and its used bytes
};

}  // namespace sinter::runtime::cuda
