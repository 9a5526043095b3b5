#include "cudasim/sim_driver.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "cudasim/driver_handles.h"

namespace sinter::runtime::cuda {
namespace sim {
namespace {

thread_local DeviceState* current_device = nullptr;

struct ErrorText {
  Result code;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
    {Result::Success, "CUDA_SUCCESS", "no error"},
    {Result::InvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {Result::OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {Result::NotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {Result::InvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {Result::InvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {Result::InvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {Result::InvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {Result::InvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {Result::NotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {Result::NotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {Result::IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {Result::LaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {Result::PeerAccessAlreadyEnabled, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
    {Result::IllegalInstruction, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {Result::MisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {Result::InvalidPc, "CUDA_ERROR_INVALID_PC", "invalid program counter"},
    {Result::LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {Result::NotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

const ErrorText* find_error(Result code) {
  const auto found =
      std::find_if(std::begin(kErrors), std::end(kErrors), [&](const ErrorText& row) { return row.code == code; });
  return found == std::end(kErrors) ? nullptr : found;
}

DeviceState& device_at(DeviceNumber number) {
  State& s = state();
  if (!s.initialised) throw Refusal{Result::NotInitialized};
  if (number < 0 || number >= s.settings.devices) throw Refusal{Result::InvalidDevice};
  while (s.devices.size() <= static_cast<size_t>(number))
    s.devices.push_back(std::make_unique<DeviceState>(static_cast<int>(s.devices.size()), s.settings.memory));
  return *s.devices[static_cast<size_t>(number)];
}

/// Of an H200, where a program asks.
int attribute_value(DeviceAttribute attribute) {
  switch (attribute) {
    case DeviceAttribute::MaxThreadsPerBlock: return 1024;
    case DeviceAttribute::MaxGridDimX: return 0x7fffffff;
    case DeviceAttribute::MaxSharedMemoryPerBlock: return 48 << 10;
    case DeviceAttribute::WarpSize: return kLanes;
    case DeviceAttribute::MaxRegistersPerBlock: return 64 << 10;
    case DeviceAttribute::ClockRate: return 1980000;
    case DeviceAttribute::MultiprocessorCount: return 132;
    case DeviceAttribute::ComputeMode: return 0;
    case DeviceAttribute::MemoryClockRate: return 3201000;
    case DeviceAttribute::GlobalMemoryBusWidth: return 6144;
    case DeviceAttribute::L2CacheSize: return 60 << 20;
    case DeviceAttribute::MaxThreadsPerMultiprocessor: return 2048;
    case DeviceAttribute::ComputeCapabilityMajor: return 9;
    case DeviceAttribute::ComputeCapabilityMinor: return 0;
    case DeviceAttribute::MaxSharedMemoryPerMultiprocessor: return 228 << 10;
    case DeviceAttribute::MaxRegistersPerMultiprocessor: return 64 << 10;
    case DeviceAttribute::MaxSharedMemoryPerBlockOptin: return 227 << 10;
    case DeviceAttribute::MaxBlocksPerMultiprocessor: return 32;
    case DeviceAttribute::ReservedSharedMemoryPerBlock: return 1 << 10;
  }
  throw Refusal{Result::InvalidValue};
}

void note_leaks(DeviceState& device) {
  std::string& text = state().leaks;
  for (const auto& [base, region] : device.memory.live()) {
    const bool variable = std::any_of(device.modules.begin(), device.modules.end(), [&](const auto& module) {
      const auto& own = module.second->variables;
      return std::find(own.begin(), own.end(), base) != own.end();
    });
    if (!variable) text += fmt::format("device {}: {} were not freed\n", device.context.device, region->name());
  }
  const auto note = [&](size_t count, const char* what) {
    if (count) text += fmt::format("device {}: {} {} left\n", device.context.device, count, what);
  };
  note(device.streams.size(), "streams");
  note(device.events.size(), "events");
  note(device.modules.size(), "modules");
}

Result release(DeviceNumber number) {
  DeviceState& device = device_at(number);
  if (device.retained == 0) return Result::InvalidContext;
  if (--device.retained) return Result::Success;
  if (device.sticky == Result::Success) drain_all(device);
  note_leaks(device);
  state().devices[static_cast<size_t>(number)] = std::make_unique<DeviceState>(number, state().settings.memory);
  return Result::Success;
}

}  // namespace

State& state() {
  static State& all = *new State;
  return all;
}

DeviceState* current() {
  // The device may have been released and made anew since this thread chose it.
  for (const auto& device : state().devices)
    if (device.get() == current_device) return device->retained ? current_device : nullptr;
  return nullptr;
}
void set_current(DeviceState* device) { current_device = device; }

void fill_devices(Driver& table) {
  table.init = [](unsigned) {
    return answer([] {
      state().initialised = true;
      return Result::Success;
    });
  };
  table.driver_get_version = [](int* version) { return *version = 12080, Result::Success; };
  table.get_error_name = [](Result code, const char** name) {
    const ErrorText* row = find_error(code);
    *name = row ? row->name : nullptr;
    return row ? Result::Success : Result::InvalidValue;
  };
  table.get_error_string = [](Result code, const char** text) {
    const ErrorText* row = find_error(code);
    *text = row ? row->text : nullptr;
    return row ? Result::Success : Result::InvalidValue;
  };
  table.device_get_count = [](int* count) {
    return answer([&] {
      if (!state().initialised) return Result::NotInitialized;
      *count = state().settings.devices;
      return Result::Success;
    });
  };
  table.device_get = [](DeviceNumber* device, int index) {
    return answer([&] {
      device_at(index);
      *device = index;
      return Result::Success;
    });
  };
  table.device_get_name = [](char* name, int size, DeviceNumber device) {
    return answer([&] {
      device_at(device);
      std::snprintf(name, static_cast<size_t>(size), "Simulated GPU");
      return Result::Success;
    });
  };
  table.device_get_uuid = [](Uuid* uuid, DeviceNumber device) {
    return answer([&] {
      device_at(device);
      *uuid = {};
      uuid->bytes[0] = 's', uuid->bytes[1] = 'i', uuid->bytes[2] = 'm';
      uuid->bytes[15] = static_cast<unsigned char>(device);
      return Result::Success;
    });
  };
  table.device_total_mem = [](size_t* bytes, DeviceNumber device) {
    return answer([&] {
      *bytes = device_at(device).memory.total();
      return Result::Success;
    });
  };
  table.device_get_attribute = [](int* value, DeviceAttribute attribute, DeviceNumber device) {
    return answer([&] {
      device_at(device);
      *value = attribute_value(attribute);
      return Result::Success;
    });
  };
  table.device_can_access_peer = [](int* can, DeviceNumber device, DeviceNumber peer) {
    return answer([&] {
      device_at(device), device_at(peer);
      *can = device != peer;
      return Result::Success;
    });
  };
  table.device_primary_ctx_retain = [](ContextHandle* context, DeviceNumber number) {
    return answer([&] {
      DeviceState& device = device_at(number);
      ++device.retained;
      *context = &device.context;
      return Result::Success;
    });
  };
  table.device_primary_ctx_release = [](DeviceNumber number) { return answer([&] { return release(number); }); };
  table.ctx_set_current = [](ContextHandle context) {
    return answer([&] {
      set_current(context ? &device_at(context->device) : nullptr);
      return Result::Success;
    });
  };
  table.ctx_get_current = [](ContextHandle* context) {
    return answer([&] {
      *context = current() ? &current()->context : nullptr;
      return Result::Success;
    });
  };
  table.ctx_synchronize = [] {
    return answer_on_device([](DeviceState& device) {
      drain_all(device);
      return Result::Success;
    });
  };
  // Copies between devices pass through the host here: nothing is to be enabled.
  table.ctx_enable_peer_access = [](ContextHandle, unsigned) {
    return answer_on_device([](DeviceState&) { return Result::Success; });
  };
}

void configure(const Settings& settings) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  s.settings = settings;
  for (const auto& device : s.devices)
    if (!device->retained) device->memory.set_total(settings.memory);
}

Settings settings() {
  std::lock_guard lock(state().mutex);
  return state().settings;
}

std::string last_fault() {
  std::lock_guard lock(state().mutex);
  return state().fault;
}

std::string leaks() {
  std::lock_guard lock(state().mutex);
  return state().leaks;
}

Counters counters(const std::string& kernel) {
  std::lock_guard lock(state().mutex);
  return state().counters[kernel];
}

void clear_reports() {
  std::lock_guard lock(state().mutex);
  state().fault.clear();
  state().leaks.clear();
  state().counters.clear();
}

}  // namespace sim

const Driver& simulated_driver() {
  static const Driver table = [] {
    Driver filled;
    sim::fill_devices(filled);
    sim::fill_memory(filled);
    sim::fill_streams(filled);
    sim::fill_modules(filled);
    sim::fill_graphs(filled);
    return filled;
  }();
  return table;
}

}  // namespace sinter::runtime::cuda
