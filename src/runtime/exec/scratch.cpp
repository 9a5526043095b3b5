// One flag per lease.
#include "runtime/exec/scratch.h"

#include <sched.h>

#include "runtime/base/sanitizer.h"

namespace sinter::runtime {

ScratchPool::ScratchPool(int64_t bytes, int threads)
    : leases_(static_cast<size_t>(threads)), bytes_((static_cast<size_t>(bytes) + 63) / 64 * 64 + kRedZone) {
  buffer_ = Buffer::allocate(leases_ * bytes_);
  for (size_t i = 0; i < leases_; ++i)
    poison_memory(buffer_->as<std::byte>() + i * bytes_ + bytes, bytes_ - static_cast<size_t>(bytes));
  taken_ = std::make_unique<std::atomic<bool>[]>(leases_);
}

void* ScratchPool::memory(size_t lease) const { return buffer_->as<std::byte>() + lease * bytes_; }

ScratchPool::Lease::Lease(ScratchPool& scratch) : scratch_(scratch) {
  while (scratch_.taken_[index_].exchange(true, std::memory_order_acquire))
    if (++index_ == scratch_.leases_) {
      index_ = 0;
      sched_yield();
    }
}
ScratchPool::Lease::~Lease() { scratch_.taken_[index_].store(false, std::memory_order_release); }

}  // namespace sinter::runtime
