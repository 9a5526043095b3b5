// The resources this process may use: the container's share, if it runs in one.
#pragma once

#include <cstdint>

namespace sinter::runtime {

/// CPUs of the process: its affinity mask, limited by the cgroup quota. At least 1.
int usable_cpus();

/// Bytes of memory: the machine's, or the smallest limit of the enclosing cgroups.
uint64_t usable_memory();

}  // namespace sinter::runtime
