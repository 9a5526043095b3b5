// Dispatches to the CPU and CUDA implementations.
#include "runtime/exec/devices.h"

#include <fmt/core.h>

#include <cstring>
#include <memory>

#include "runtime/cpu/cpu_model.h"
#include "runtime/cpu/host_allocator.h"
#include "runtime/cuda/context.h"
#include "sinter/error.h"

namespace sinter::runtime {

namespace {

std::shared_ptr<cuda::Context> context_of(Device device) {
  return device.kind() == Device::Kind::Cuda ? cuda::Context::get(device.index()) : nullptr;
}
cuda::DevicePointer address(const void* p) { return reinterpret_cast<cuda::DevicePointer>(p); }

}  // namespace

std::string why_unavailable(Device device) {
  if (device.kind() == Device::Kind::Cpu) {
    if (device.index() == 0) return "";
    return fmt::format("there is no device cpu:{}; the CPU is one device, Device::cpu()", device.index());
  }
  try {
    cuda::Context::get(device.index());
    return "";
  } catch (const Error& why) { return why.what(); }
}

std::string model_of(Device device) {
  const auto context = context_of(device);
  return context ? context->properties().name : cpu::cpu_model();
}

void copy(Device to_device, void* to, Device from_device, const void* from, size_t bytes) {
  if (!bytes) return;
  const auto target = context_of(to_device), source = context_of(from_device);
  if (target && source) return target->copy_from(*source, address(to), address(from), bytes);
  if (target) return target->copy_to_device(address(to), from, bytes);
  if (source) return source->copy_to_host(to, address(from), bytes);
  std::memcpy(to, from, bytes);
}

MemoryUsage fullest_device() {
  MemoryUsage most{Device::cpu(), cpu::live_memory(), cpu::memory_limit()};
  if (!cuda::in_use()) return most;
  for (const auto& context : cuda::contexts()) {
    const MemoryUsage other{Device::cuda(context->index()), context->allocator().live(), context->allocator().limit()};
    if (other.share() > most.share()) most = other;
  }
  return most;
}

}  // namespace sinter::runtime
