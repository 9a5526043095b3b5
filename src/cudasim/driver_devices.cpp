// Devices, their contexts, and error codes.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

#include "cudasim/driver_handles.h"

namespace sinter::runtime::cuda::sim {
namespace {

thread_local DeviceState* current_device = nullptr;

struct ErrorText {
  CudaResult code;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
    {CudaResult::Success, "CUDA_SUCCESS", "no error"},
    {CudaResult::InvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CudaResult::OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CudaResult::NotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CudaResult::InvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CudaResult::InvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CudaResult::InvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CudaResult::InvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CudaResult::InvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CudaResult::NotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CudaResult::NotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CudaResult::IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CudaResult::LaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {CudaResult::PeerAccessAlreadyEnabled, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
    {CudaResult::IllegalInstruction, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {CudaResult::MisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {CudaResult::InvalidPc, "CUDA_ERROR_INVALID_PC", "invalid program counter"},
    {CudaResult::LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CudaResult::NotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CudaResult::Unknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

/// Sets `out` to a text of the error, or to null.
CudaResult describe(CudaResult code, const char* ErrorText::* text, const char** out) {
  const auto* row = std::ranges::find(kErrors, code, &ErrorText::code);
  *out = row == std::end(kErrors) ? nullptr : row->*text;
  return *out ? CudaResult::Success : CudaResult::InvalidValue;
}

DeviceState& device_at(DeviceNumber number) {
  DriverState& s = state();
  if (!s.initialized) throw ApiError{CudaResult::NotInitialized};
  if (number < 0 || number >= s.settings.devices) throw ApiError{CudaResult::InvalidDevice};
  while (s.devices.size() <= static_cast<size_t>(number))
    s.devices.push_back(std::make_unique<DeviceState>(static_cast<int>(s.devices.size()), s.settings.memory));
  return *s.devices[static_cast<size_t>(number)];
}

/// The values of an H200.
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
  throw ApiError{CudaResult::InvalidValue};
}

void note_leaks(DeviceState& device) {
  std::string& text = state().leaks;
  for (const auto& [base, region] : device.memory.live()) {
    const bool variable = std::ranges::any_of(device.modules, [&](const auto& module) {
      const auto& own = module.second->variables;
      return std::ranges::find(own, base) != own.end();
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

void release(DeviceNumber number) {
  DeviceState& device = device_at(number);
  if (device.retained == 0) throw ApiError{CudaResult::InvalidContext};
  if (--device.retained) return;
  if (device.sticky == CudaResult::Success) drain_all(device);
  note_leaks(device);
  state().devices[static_cast<size_t>(number)] = std::make_unique<DeviceState>(number, state().settings.memory);
}

}  // namespace

DriverState& state() {
  static DriverState& all = *new DriverState;
  return all;
}

CudaResult result_of_error() {
  try {
    throw;
  } catch (const ApiError& refusal) { return refusal.code; } catch (const Fault& fault) {
    return fault.code();
  } catch (const std::bad_alloc&) { return CudaResult::OutOfMemory; } catch (const std::exception& defect) {
    state().fault = fmt::format("the simulator itself failed: {}", defect.what());
    return CudaResult::Unknown;
  }
}

DeviceState* current() {
  // The device may have been released and recreated since this thread selected it.
  for (const auto& device : state().devices)
    if (device.get() == current_device) return device->retained ? current_device : nullptr;
  return nullptr;
}
void set_current(DeviceState* device) { current_device = device; }

void fill_devices(DriverApi& table) {
  table.init = [](unsigned) { return api_call([] { state().initialized = true; }); };
  table.driver_get_version = [](int* version) { return *version = 12080, CudaResult::Success; };
  table.get_error_name = [](CudaResult code, const char** name) { return describe(code, &ErrorText::name, name); };
  table.get_error_string = [](CudaResult code, const char** text) { return describe(code, &ErrorText::text, text); };
  table.device_get_count = [](int* count) {
    return api_call([&] {
      if (!state().initialized) throw ApiError{CudaResult::NotInitialized};
      *count = state().settings.devices;
    });
  };
  table.device_get = [](DeviceNumber* device, int index) {
    return api_call([&] {
      device_at(index);
      *device = index;
    });
  };
  table.device_get_name = [](char* name, int size, DeviceNumber device) {
    return api_call([&] {
      device_at(device);
      std::snprintf(name, static_cast<size_t>(size), "Simulated GPU");
    });
  };
  table.device_get_uuid = [](Uuid* uuid, DeviceNumber device) {
    return api_call([&] {
      device_at(device);
      *uuid = {};
      uuid->bytes[0] = 's', uuid->bytes[1] = 'i', uuid->bytes[2] = 'm';
      uuid->bytes[15] = static_cast<unsigned char>(device);
    });
  };
  table.device_total_mem = [](size_t* bytes, DeviceNumber device) {
    return api_call([&] { *bytes = device_at(device).memory.total(); });
  };
  table.device_get_attribute = [](int* value, DeviceAttribute attribute, DeviceNumber device) {
    return api_call([&] {
      device_at(device);
      *value = attribute_value(attribute);
    });
  };
  table.device_can_access_peer = [](int* can, DeviceNumber device, DeviceNumber peer) {
    return api_call([&] {
      device_at(device), device_at(peer);
      *can = device != peer;
    });
  };
  table.device_primary_ctx_retain = [](ContextHandle* context, DeviceNumber number) {
    return api_call([&] {
      DeviceState& device = device_at(number);
      ++device.retained;
      *context = &device.context;
    });
  };
  table.device_primary_ctx_release = [](DeviceNumber number) { return api_call([&] { release(number); }); };
  table.ctx_set_current = [](ContextHandle context) {
    return api_call([&] { set_current(context ? &device_at(context->device) : nullptr); });
  };
  table.ctx_get_current = [](ContextHandle* context) {
    return api_call([&] { *context = current() ? &current()->context : nullptr; });
  };
  table.ctx_synchronize = [] { return api_call_on_device(drain_all); };
  // Copies between devices go through the host here, so there is nothing to enable.
  table.ctx_enable_peer_access = [](ContextHandle, unsigned) { return api_call_on_device([](DeviceState&) {}); };
}

}  // namespace sinter::runtime::cuda::sim
