// Memory of the simulated device with shadow state: which bytes were written, and who last accessed each byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace sinter::runtime::cuda::sim {

constexpr uint64_t kRedZone = 64;  ///< bytes between variables of shared and local memory

/// Shadow state of a byte. Padding is the gap that alignment leaves after a variable: compilers read it with wider
/// accesses and discard it.
enum ByteState : uint8_t { kUninitialized = 0, kInitialized = 1, kRed = 2, kPadding = 4 };

/// One access. Time is a counter that advances at each launch, block, barrier and warp synchronization.
struct AccessStamp {
  uint32_t when = 0;
  uint16_t thread : 10;   ///< within its block
  uint16_t atomic : 1;    ///< for a write
  uint16_t lanes : 1;     ///< for a read: other lanes of this warp also read since its last synchronization
  uint16_t warps : 1;     ///< for a read: other warps also read since the last barrier
  uint16_t blocks : 1;    ///< for a read: other blocks also read in this launch
  uint16_t withheld : 1;  ///< for a read: one of these blocks has not released it (block_order.h)
  uint16_t instruction = 0;
};
static_assert(sizeof(AccessStamp) == 8);

struct ShadowCell {
  AccessStamp write, read;
};

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
template <typename T>
using ZeroedArray = std::unique_ptr<T[], FreeMemory>;
/// Zeroed memory, whose pages the system allocates on first touch. Throws std::bad_alloc.
template <typename T>
ZeroedArray<T> make_zeroed(uint64_t count) {
  void* memory = std::calloc(count ? count : 1, sizeof(T));
  if (!memory) throw std::bad_alloc();
  return ZeroedArray<T>(static_cast<T*>(memory));
}

/// A region of device memory: an allocation, or the shared or local memory of a block.
struct MemoryRegion {
  MemoryRegion(uint64_t base, uint64_t bytes)
      : base(base), bytes(bytes), data(make_zeroed<std::byte>(bytes + 16)), state(make_zeroed<uint8_t>(bytes + 16)) {}

  uint64_t base, bytes;
  ZeroedArray<std::byte> data;
  ZeroedArray<uint8_t> state;  ///< one ByteState per byte
  ZeroedArray<ShadowCell>
      cells;      ///< one per 4 bytes, or per byte once a smaller access was seen; null before the first access
  int shift = 2;  ///< a cell covers 1 << shift bytes

  std::string name() const;
};

/// Prepares the cells for accesses of `bytes` bytes: allocates them, and switches to one per byte for small accesses.
void prepare_cells(MemoryRegion& region, uint64_t bytes);

}  // namespace sinter::runtime::cuda::sim
