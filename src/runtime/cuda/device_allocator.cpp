// Size classes over the driver's memory.
#include "runtime/cuda/device_allocator.h"

#include <fmt/core.h>

#include <algorithm>

#include "runtime/base/counters.h"
#include "runtime/base/env.h"
#include "runtime/base/oom_report.h"
#include "runtime/base/size_class.h"
#include "runtime/cuda/context.h"
#include "sinter/error.h"

namespace sinter::runtime::cuda {
namespace {

constexpr size_t kAlignment = 256;
constexpr size_t kLargest = size_t{1} << 47;

size_t class_of(size_t bytes) { return size_class(bytes, kAlignment); }

}  // namespace

uint64_t DeviceAllocator::limit() const {
  const auto total = static_cast<uint64_t>(context_.properties().memory);
  return std::min(env().memory_limit(total), total);
}

DevicePointer DeviceAllocator::allocate(size_t bytes) {
  const uint64_t most = limit();
  const size_t size = bytes < kLargest ? class_of(bytes) : bytes;
  context_.enter();
  DeviceMemoryStats now;
  {
    std::lock_guard lock(mutex_);
    if (size <= most && live_ <= most - size)
      if (const DevicePointer block = take(size, most)) {
        live_ += size;
        peak_ = std::max(peak_, live_.load());
        ++blocks_;
        count(counters().allocations);
        return block;
      }
    drop();
    now = {live_, peak_, cached_, blocks_, most, 0};
  }
  size_t left = 0, total = 0;
  context_.driver().mem_get_info(&left, &total);
  // No lock is held here: oom_report() may have to wait for other threads.
  throw OutOfMemory(
      fmt::format("out of memory on {}: {} asked for, {} live in {} blocks, limit {} (SINTER_MEMORY_LIMIT), {} of the "
                  "device's {} free; "
                  "nothing is cached any more{}",
                  context_.name(), readable_bytes(bytes), readable_bytes(now.live), now.blocks, readable_bytes(most),
                  readable_bytes(left), readable_bytes(total), oom_report()));
}

DevicePointer DeviceAllocator::take(size_t size, uint64_t limit) {
  const bool reuse = !env().check;
  if (auto kept = free_.find(size); reuse && kept != free_.end() && !kept->second.empty()) {
    const DevicePointer block = kept->second.back();
    kept->second.pop_back();
    cached_ -= size;
    return block;
  }
  if (cached_ > limit - live_ - size) drop();
  DevicePointer block = 0;
  CudaResult code = context_.driver().mem_alloc(&block, size);
  if (code == CudaResult::OutOfMemory && cached_) {
    drop();
    code = context_.driver().mem_alloc(&block, size);
  }
  if (code == CudaResult::OutOfMemory) return 0;
  context_.check(code, "allocating memory");
  return block;
}

void DeviceAllocator::deallocate(DevicePointer block, size_t bytes) noexcept {
  if (context_.lost()) return;
  const size_t size = class_of(bytes);
  std::lock_guard lock(mutex_);
  live_ -= size;
  --blocks_;
  try {
    free_[size].push_back(block);
    cached_ += size;
  } catch (...) {  // no memory for the list itself
    if (context_.wait_before_destroy()) context_.driver().mem_free(block);
  }
}

/// Waits first, because running kernels may still use freed blocks.
void DeviceAllocator::drop() {
  if (!cached_) return;
  context_.synchronize();
  abandon();
}

void DeviceAllocator::abandon() {
  for (auto& [size, blocks] : free_)
    for (const DevicePointer block : blocks) context_.driver().mem_free(block);
  free_.clear();
  cached_ = 0;
}

void DeviceAllocator::release() {
  context_.enter();
  std::lock_guard lock(mutex_);
  drop();
}

DeviceMemoryStats DeviceAllocator::stats() const {
  const uint64_t most = limit();
  std::lock_guard lock(mutex_);
  return {live_, peak_, cached_, blocks_, most, static_cast<uint64_t>(context_.properties().memory)};
}

}  // namespace sinter::runtime::cuda
