// The sanitizer this library is built with. The Clang plugin compiles kernels with the same one. Under
// AddressSanitizer, memory that kernels must not touch is poisoned, and each allocation has a red zone at both ends.
#pragma once

#include <cstddef>

#include "ir/sanitizer_build.h"

#if defined(SINTER_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif

namespace sinter::runtime {

using ir::kSanitizer;
using ir::Sanitizer;

/// Bytes of red zone before and after each allocation; a multiple of every alignment that kernels use.
inline constexpr size_t kRedZone = kSanitizer == Sanitizer::Address ? 64 : 0;

/// Any later access to these bytes ends the process with a report. Does nothing without AddressSanitizer.
inline void poison_memory([[maybe_unused]] const void* start, [[maybe_unused]] size_t bytes) {
#if defined(SINTER_ADDRESS_SANITIZER)
  __asan_poison_memory_region(start, bytes);
#endif
}

/// Undoes poison_memory(). `start` is a multiple of 8.
inline void unpoison_memory([[maybe_unused]] const void* start, [[maybe_unused]] size_t bytes) {
#if defined(SINTER_ADDRESS_SANITIZER)
  __asan_unpoison_memory_region(start, bytes);
#endif
}

}  // namespace sinter::runtime
