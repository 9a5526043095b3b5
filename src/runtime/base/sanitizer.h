// The sanitizer that this library is built with. The Clang plugin compiles kernels with the same one, and under
// AddressSanitizer memory that kernels may not touch is marked, with a red zone at both ends of each piece.
#pragma once

#include <cstddef>

#include "ir/sanitizer_build.h"

#if defined(SINTER_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif

namespace sinter::runtime {

using ir::kSanitizer;
using ir::Sanitizer;

/// Bytes before and after each piece of memory that nobody may touch; a multiple of every alignment that kernels use.
inline constexpr size_t kRedZone = kSanitizer == Sanitizer::Address ? 64 : 0;

/// Who touches these bytes from now on ends the process with a report. Nothing without AddressSanitizer.
inline void poison_memory([[maybe_unused]] const void* start, [[maybe_unused]] size_t bytes) {
#if defined(SINTER_ADDRESS_SANITIZER)
  __asan_poison_memory_region(start, bytes);
#endif
}

/// Takes poison_memory() back; `start` is a multiple of 8.
inline void unpoison_memory([[maybe_unused]] const void* start, [[maybe_unused]] size_t bytes) {
#if defined(SINTER_ADDRESS_SANITIZER)
  __asan_unpoison_memory_region(start, bytes);
#endif
}

}  // namespace sinter::runtime
