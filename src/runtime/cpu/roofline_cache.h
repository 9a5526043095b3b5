// The machine's roofline, cached in the process and on disk.
#pragma once

#include "runtime/cpu/roofline.h"

namespace sinter::runtime::cpu {

/// The roofline for `threads` threads (at least 1): from this process's memory, from the cache folder (one entry per
/// CPU model and number of threads; a damaged entry is a miss), or measured, which occupies all threads for about 0.2
/// s. The first call of a process for a number of threads logs it at DEBUG=2. Throws what measure_roofline() throws.
Roofline cached_roofline(int threads);

/// Clears this process's entries, for tests.
void clear_roofline_cache();

}  // namespace sinter::runtime::cpu
