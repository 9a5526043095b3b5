// Little memory on the CPU for a scope, and tensors that lie there whatever the default device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "runtime/cpu/allocator.h"
#include "sinter/device.h"
#include "unit/runtime_support.h"

/// SINTER_MEMORY_LIMIT at so many bytes more than what is live now on the CPU.
inline runtime_test::Setting memory_beyond(uint64_t bytes) {
  return {"SINTER_MEMORY_LIMIT", std::to_string(std::max<uint64_t>(1, sinter::runtime::cpu::live_memory() + bytes))};
}

/// Tensors are made on the CPU.
struct OnCpu {
  OnCpu() { sinter::set_default_device(sinter::Device::cpu()); }
  ~OnCpu() { sinter::set_default_device(before); }
  OnCpu(const OnCpu&) = delete;
  OnCpu& operator=(const OnCpu&) = delete;
  const sinter::Device before = sinter::default_device();
};
