// Memory as the graph sees it: an object that nodes share, that others may write (foreign), and that a failure can
// poison. Pointers, pools and devices are the runtime's (runtime/exec/buffer.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ir/deferred_error.h"
#include "ir/origin.h"
#include "sinter/device.h"

namespace sinter::ir {

/// Reference-counted memory of nodes. All fields are guarded by the tensor graph's mutex. A plan in flight holds a
/// reference.
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
  /// Mapped files and user memory: never written (SEMANTICS V3).
  bool foreign() const { return foreign_; }

  /// The first value stored here determines the origin of the memory.
  void record_origin(NodeOrigin& origin) {
    if (origin_) return;
    origin_ = &origin;
    ++origin.buffers;
    origin.bytes += bytes_;
  }

  void retain() { ++refs_; }
  /// Frees the memory at once when the last reference goes.
  void release() {
    if (--refs_ == 0) delete this;
  }

  int owners = 0;     ///< nodes whose value is stored here
  std::string error;  ///< non-empty: poisoned by a failed launch; a read throws this text (SEMANTICS V6)
  /// Non-null: the plan that wrote this, or an earlier one, may have met an index out of range.
  std::shared_ptr<DeferredError> deferred_error;
  uint64_t mark = 0;      ///< of the latest graph walk to reach it
  uint32_t position = 0;  ///< scratch for the walk that set the mark

 private:
  size_t bytes_;
  NodeOrigin* origin_ = nullptr;
  int refs_ = 0;
  Device device_;
  bool foreign_;
};

}  // namespace sinter::ir
