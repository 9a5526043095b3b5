// Memory on a device as plans and kernels see it: a pointer with a size, counted by the nodes that share it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "ir/storage.h"

namespace sinter::runtime {

namespace cuda {
class Context;
}

/// Storage with an address. The first retain() takes the object over; release() frees it and its memory at once.
class Buffer final : public ir::Storage {
 public:
  /// New memory, 64-byte aligned, contents undefined; zero bytes are a valid buffer. Throws OutOfMemory, and the error
  /// of a device that cannot be used.
  static std::unique_ptr<Buffer> allocate(size_t bytes, Device device = Device::cpu());

  /// User memory or a mapped file, never written (SEMANTICS V3): any alignment; `deleter` runs when the buffer goes,
  /// and may be empty.
  static std::unique_ptr<Buffer> wrap(const void* data, size_t bytes, std::function<void()> deleter);

  ~Buffer() override;

  /// Fills it with as many bytes of the host, which may go afterwards.
  void write(const void* from);
  /// Copies all of it to the host; waits for what is to be written there. Throws BackendError.
  void read(void* to) const;

  /// Copies all of another one of the same size, on any device, in the order of the devices' queues.
  void copy(const Buffer& from);

  /// The address that kernels get, on the device.
  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  Buffer(void* data, size_t bytes, Device device, bool foreign, std::function<void()> deleter);
  void* data_;
  std::function<void()> deleter_;
  std::shared_ptr<cuda::Context> context_;  ///< of a GPU's memory
};

/// Buffers that exist, foreign ones included.
uint64_t live_buffers();

}  // namespace sinter::runtime
