// The machine's roofs without measuring them each time.
#pragma once

#include "runtime/cpu/roofline.h"

namespace sinter::runtime::cpu {

/// The roofs for `threads` threads (at least 1), by the nearest way: this process's memory, the cache folder (an entry
/// per model of CPU and number of threads; a damaged one is a miss), a measurement, which takes some 0.2 s of all
/// threads. The first call of a process for a number of threads logs them at DEBUG=2. Throws what measure_roofline()
/// throws.
Roofline cached_roofline(int threads);

/// Forgets those of this process, for tests.
void clear_roofline_cache();

}  // namespace sinter::runtime::cpu
