// What this process may use of the machine it runs on: the container's share where there is one.
#pragma once

#include <cstdint>

namespace sinter::runtime {

/// CPUs of the process: its affinity mask, cut to the control group's quota. At least 1.
int usable_cpus();

/// Bytes of memory: the machine's, or the smallest limit of the control groups around the process.
uint64_t usable_memory();

}  // namespace sinter::runtime
