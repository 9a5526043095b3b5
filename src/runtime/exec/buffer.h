// Device memory as plans and kernels see it: a pointer with a size, reference-counted by the nodes that share it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "ir/storage.h"

namespace sinter::runtime {

namespace cuda {
class Context;
}

/// Storage with an address. The first retain() takes ownership of the object; release() frees it and its memory at
/// once.
class Buffer final : public ir::Storage {
 public:
  /// New memory, aligned to 64 bytes or more, contents undefined. Zero bytes are a valid size. Throws OutOfMemory, and
  /// the error of a device that cannot be used.
  static std::unique_ptr<Buffer> allocate(size_t bytes, Device device = Device::cpu());

  /// User memory or a mapped file, never written (SEMANTICS V3), with any alignment. `deleter` runs when the buffer is
  /// destroyed, and may be empty.
  static std::unique_ptr<Buffer> wrap(const void* data, size_t bytes, std::function<void()> deleter);

  ~Buffer() override;

  /// Fills the whole buffer from host memory, which may be freed afterwards.
  void write(const void* from);
  /// Copies the whole buffer to the host. Waits for pending writes to it. Throws BackendError.
  void read(void* to) const;

  /// Copies the whole of another buffer of the same size, on any device, in stream order.
  void copy(const Buffer& from);

  /// The address passed to kernels, on the device.
  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  Buffer(void* data, size_t bytes, Device device, bool foreign, std::function<void()> deleter);
  void* data_;
  std::function<void()> deleter_;
  std::shared_ptr<cuda::Context> context_;  ///< for GPU memory
};

/// Number of existing buffers, including foreign ones.
uint64_t live_buffers();

}  // namespace sinter::runtime
