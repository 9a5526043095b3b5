// Memory for buffers on the CPU: pooled, aligned to 64 bytes or more, limited.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinter::runtime::cpu {

/// Sizes in bytes, counting whole blocks: a request is rounded up to its size class.
struct HostMemoryStats {
  uint64_t live = 0;    ///< in use
  uint64_t peak = 0;    ///< maximum of `live`
  uint64_t cached = 0;  ///< freed and kept for later requests
  uint64_t limit = 0;   ///< SINTER_MEMORY_LIMIT
};

/// Returns a block of at least `bytes` bytes with undefined contents. Zero bytes are a valid request. Freed blocks are
/// reused; cached ones are returned to the system before this throws OutOfMemory, which states the request, the live
/// bytes and the limit.
void* allocate(size_t bytes);

/// Frees a block. `bytes` is the size passed to allocate().
void deallocate(void* block, size_t bytes) noexcept;

HostMemoryStats memory_stats();
/// Only the field `live`, and the limit. Takes no lock.
uint64_t live_memory();
uint64_t memory_limit();

/// Returns cached blocks to the system.
void release_cached_memory();

}  // namespace sinter::runtime::cpu
