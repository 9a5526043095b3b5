// How pools round up requests, so a freed block fits many later ones.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace sinter::runtime {

/// The size of a huge page, and the granularity at which a GPU's driver allocates memory.
inline constexpr size_t kHugePage = 2 << 20;

/// Four classes per power of two, so at most a quarter is wasted; whole huge pages from 32 MiB on. `alignment` is a
/// power of two.
inline size_t size_class(size_t bytes, size_t alignment) {
  if (bytes <= alignment) return alignment;
  const size_t step = bytes >= 32 << 20 ? kHugePage : std::max(alignment, std::bit_floor(bytes - 1) / 4);
  return (bytes + step - 1) & ~(step - 1);
}

}  // namespace sinter::runtime
