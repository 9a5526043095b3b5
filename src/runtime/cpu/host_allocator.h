// Memory for buffers on the CPU: pooled, 64-byte aligned, under a limit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinter::runtime::cpu {

/// Bytes as the blocks behind them have them: a request is rounded up to its size class.
struct HostMemoryStats {
  uint64_t live = 0;    ///< in use
  uint64_t peak = 0;    ///< the most that was in use at once
  uint64_t cached = 0;  ///< freed and kept for the next request
  uint64_t limit = 0;   ///< SINTER_MEMORY_LIMIT
};

/// A block of at least `bytes` bytes, its contents undefined; zero bytes are a valid block too. Freed blocks are
/// reused, and given back to the system before this throws OutOfMemory with what was asked, what is live and the limit.
void* allocate(size_t bytes);

/// Takes a block back; `bytes` as it was asked for.
void deallocate(void* block, size_t bytes) noexcept;

HostMemoryStats memory_stats();
/// The field `live` alone, and the limit: no lock is taken.
uint64_t live_memory();
uint64_t memory_limit();

/// Gives the freed blocks back to the system.
void release_cached_memory();

}  // namespace sinter::runtime::cpu
