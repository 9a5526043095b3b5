// Little memory on the CPU for a scope.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "on_cpu.h"
#include "runtime/cpu/host_allocator.h"
#include "unit/runtime_support.h"

/// SINTER_MEMORY_LIMIT at so many bytes more than what is live now on the CPU.
inline runtime_test::ScopedEnv memory_beyond(uint64_t bytes) {
  return {"SINTER_MEMORY_LIMIT", std::to_string(std::max<uint64_t>(1, sinter::runtime::cpu::live_memory() + bytes))};
}
