// Memory for tiles that a kernel keeps between its loops: one region per thread, leased for one call of its entry.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/exec/buffer.h"

namespace sinter::runtime {

class ScratchPool {
 public:
  /// `bytes` for each of `threads` threads. Throws OutOfMemory.
  ScratchPool(int64_t bytes, int threads);

  /// Exclusive use of one region. The constructor waits if all are leased.
  class Lease {
   public:
    explicit Lease(ScratchPool& scratch);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    size_t index() const { return index_; }

   private:
    ScratchPool& scratch_;
    size_t index_ = 0;
  };
  size_t leases() const { return leases_; }
  void* memory(size_t lease) const;

 private:
  size_t leases_, bytes_;
  std::unique_ptr<Buffer> buffer_;
  std::unique_ptr<std::atomic<bool>[]> taken_;
};

}  // namespace sinter::runtime
