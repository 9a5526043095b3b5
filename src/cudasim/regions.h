// Memory of the simulated device with a shadow: which bytes were written, and who touched each last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace sinter::runtime::cuda::sim {

constexpr uint64_t kRedZone = 64;  ///< bytes between variables of shared and local memory

/// What the shadow says of a byte.
/// Padding is what a variable's alignment leaves behind its end: compilers read it with wider accesses and drop it.
enum ByteState : uint8_t { kUninitialized = 0, kInitialized = 1, kRed = 2, kPadding = 4 };

/// One access. Time is a counter that grows at each launch, block, barrier and warp synchronisation.
struct AccessStamp {
  uint32_t when = 0;
  uint16_t thread : 10;  ///< in its block
  uint16_t atomic : 1;   ///< of a write
  uint16_t lanes : 1;    ///< of a read: other lanes of this warp read too since its last synchronisation
  uint16_t warps : 1;    ///< of a read: other warps read too since the last barrier
  uint16_t blocks : 1;   ///< of a read: other blocks read too in this launch
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
/// Zeros, of which the system gives pages as they are touched. Throws std::bad_alloc.
template <typename T>
ZeroedArray<T> make_zeroed(uint64_t count) {
  void* memory = std::calloc(count ? count : 1, sizeof(T));
  if (!memory) throw std::bad_alloc();
  return ZeroedArray<T>(static_cast<T*>(memory));
}

/// A piece of device memory: an allocation, or the shared or local memory of a block.
struct MemoryRegion {
  MemoryRegion(uint64_t base, uint64_t bytes)
      : base(base), bytes(bytes), data(make_zeroed<std::byte>(bytes + 16)), state(make_zeroed<uint8_t>(bytes + 16)) {}

  uint64_t base, bytes;
  ZeroedArray<std::byte> data;
  ZeroedArray<uint8_t> state;  ///< a ByteState per byte
  ZeroedArray<ShadowCell>
      cells;      ///< a cell per 4 bytes, or per byte once a smaller access was seen; null before the first
  int shift = 2;  ///< a cell is of 1 << shift bytes

  std::string name() const;
};

/// Makes the cells fit accesses of `bytes` bytes: there are some, and small accesses have one per byte.
void prepare_cells(MemoryRegion& region, uint64_t bytes);

}  // namespace sinter::runtime::cuda::sim
