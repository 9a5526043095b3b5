// Size classes over malloc (small blocks) and system pages (large blocks). A fresh page costs more than the work on it,
// so freed blocks are cached up to a bound.
#include "runtime/cpu/host_allocator.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/base/counters.h"
#include "runtime/base/env.h"
#include "runtime/base/fork.h"
#include "runtime/base/oom_report.h"
#include "runtime/base/sanitizer.h"
#include "runtime/base/size_class.h"
#include "runtime/base/system_limits.h"
#include "runtime/cpu/huge_pages.h"
#include "sinter/error.h"

namespace sinter::runtime::cpu {
namespace {

constexpr size_t kAlignment = 64, kMaxAlignment = 4096;
constexpr size_t kMinMappedBytes = 256 << 10;  ///< from this size on, blocks have pages of their own
constexpr size_t kLargest = size_t{1} << 47;

size_t class_of(size_t bytes) { return size_class(bytes, kAlignment); }

/// Against 4K aliasing: a load waits for an earlier store whose address has the same last 12 bits. Blocks that begin at
/// a multiple of the power of two in their size, up to a page, are not read just behind the place where another one is
/// written. With a weight that began 64 bytes before a page, layer_norm of 8192 x 1024 took 1.2 times as long (Zen 4,
/// December 2026). The limit does not count what malloc leaves between such blocks, less than a page for each.
size_t alignment_of(size_t size) { return std::clamp(std::bit_floor(size), kAlignment, kMaxAlignment); }

/// Null if the system is out of memory.
void* map_from_system(size_t size) {
  if (size >= kMinMappedBytes) return map_pages(size);
  void* block = nullptr;
  return posix_memalign(&block, alignment_of(size), size) == 0 ? block : nullptr;
}

/// A block between red zones, all of it poisoned. Null if the system is out of memory.
void* take_from_system(size_t size) {
  char* const start = static_cast<char*>(map_from_system(size + 2 * kRedZone));
  if (!start) return nullptr;
  poison_memory(start, size + 2 * kRedZone);
  return start + kRedZone;
}

void give_to_system(void* block, size_t size) {
  char* const start = static_cast<char*>(block) - kRedZone;
  size += 2 * kRedZone;
  unpoison_memory(start, size);
  if (size < kMinMappedBytes)
    std::free(start);
  else
    unmap_pages(start, size);
}

class BlockPool {
 public:
  BlockPool() { hold_at_fork(mutex_); }

  void* allocate(size_t bytes) {
    const uint64_t limit = memory_limit();
    const size_t size = bytes < kLargest ? class_of(bytes) : bytes;
    std::lock_guard lock(mutex_);
    void* block = nullptr;
    if (size <= limit && live() <= limit - size) block = take_class(size, limit);
    if (!block)
      throw OutOfMemory(fmt::format("out of memory on the CPU: {} asked for, {} live, limit {} (SINTER_MEMORY_LIMIT)",
                                    readable_bytes(bytes), readable_bytes(live()), readable_bytes(limit)));
    unpoison_memory(block, bytes);  // only the bytes that were requested
    set_live(live() + size);
    peak_ = std::max(peak_, live());
    count(counters().allocations);
    return block;
  }

  void put(void* block, size_t bytes) noexcept {
    const size_t size = class_of(bytes);
    std::lock_guard lock(mutex_);
    set_live(live() - size);
    // At the bound, the cached blocks have sizes that are no longer requested.
    if (cached_ + size > bound_) trim();
    if (size > bound_ || !cache(block, size)) give_to_system(block, size);
  }

  void release() {
    std::lock_guard lock(mutex_);
    trim();
  }

  HostMemoryStats stats() {
    const uint64_t limit = memory_limit();
    std::lock_guard lock(mutex_);
    return {live(), peak_, cached_, limit};
  }

  uint64_t live() const { return live_.load(std::memory_order_relaxed); }

 private:
  void set_live(uint64_t bytes) { live_.store(bytes, std::memory_order_relaxed); }
  void* take_class(size_t size, uint64_t limit) {
    bound_ = std::max<uint64_t>(64 << 20, limit / 8);
    if (auto kept = free_.find(size); kept != free_.end() && !kept->second.empty()) {
      void* block = kept->second.back();
      kept->second.pop_back();
      cached_ -= size;
      return block;
    }
    if (cached_ > limit - live() - size) trim();
    void* block = take_from_system(size);
    if (!block && cached_) {
      trim();
      block = take_from_system(size);
    }
    return block;
  }

  bool cache(void* block, size_t size) noexcept {
    try {
      free_[size].push_back(block);
    } catch (...) {
      return false;  // no memory for the list itself
    }
    poison_memory(block, size);
    cached_ += size;
    return true;
  }

  void trim() noexcept {
    for (auto& [size, blocks] : free_)
      for (void* block : blocks) give_to_system(block, size);
    free_.clear();
    cached_ = 0;
  }

  std::mutex mutex_;
  std::unordered_map<size_t, std::vector<void*>> free_;
  std::atomic<uint64_t> live_{0};  ///< written under the mutex
  uint64_t peak_ = 0, cached_ = 0, bound_ = 64 << 20;
};

BlockPool& block_pool() {
  static BlockPool* all = new BlockPool;  // never destroyed: buffers in static objects are freed after main
  return *all;
}

}  // namespace

void* allocate(size_t bytes) { return block_pool().allocate(bytes); }
void deallocate(void* block, size_t bytes) noexcept { block_pool().put(block, bytes); }
HostMemoryStats memory_stats() { return block_pool().stats(); }
uint64_t live_memory() { return block_pool().live(); }
uint64_t memory_limit() {
  static const uint64_t machine = usable_memory();
  // Every public call reads it, so it is computed once per environment.
  thread_local const Env* of = nullptr;
  thread_local uint64_t limit = 0;
  if (const Env& now = env(); of != &now) {
    limit = now.memory_limit(machine);
    of = &now;
  }
  return limit;
}
void release_cached_memory() { block_pool().release(); }

}  // namespace sinter::runtime::cpu
