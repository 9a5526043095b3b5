// What the graph knows of memory: an object that is shared by nodes, can be written by somebody else (foreign), and
// can be poisoned by a failure. Pointers, pools and devices are the runtime's (runtime/exec/buffer.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ir/deferred_error.h"
#include "ir/origin.h"
#include "sinter/device.h"

namespace sinter::ir {

/// Counted memory behind nodes. All fields are guarded by the tensor graph's mutex; a plan in flight holds a reference.
class Storage {
 public:
  Storage(size_t bytes, Device device, bool foreign = false) : bytes_(bytes), device_(device), foreign_(foreign) {}
  virtual ~Storage() {
    if (!origin_) return;
    --origin_->buffers;
    origin_->bytes -= bytes_;
  }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  /// Mapped files and user memory: read, never written (SEMANTICS V3).
  bool foreign() const { return foreign_; }

  /// The first value that lies here says where the memory comes from.
  void record_origin(NodeOrigin& origin) {
    if (origin_) return;
    origin_ = &origin;
    ++origin.buffers;
    origin.bytes += bytes_;
  }

  void retain() { ++refs_; }
  /// Frees the memory, at once, when the last reference goes.
  void release() {
    if (--refs_ == 0) delete this;
  }

  int owners = 0;     ///< nodes whose value lies here
  std::string error;  ///< not empty: poisoned by a failed launch; reading it throws this text (SEMANTICS V6)
  /// Not null: the plan that wrote this, or one before it, may have met an index out of range.
  std::shared_ptr<DeferredError> deferred_error;
  uint64_t mark = 0;      ///< of the graph walk that last met it
  uint32_t position = 0;  ///< free for the walk that set the mark

 private:
  size_t bytes_;
  NodeOrigin* origin_ = nullptr;
  int refs_ = 0;
  Device device_;
  bool foreign_;
};

}  // namespace sinter::ir
