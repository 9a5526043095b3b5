// A CUDA driver with one device, an H100 that computes nothing: memory is addresses alone, launches return, results are
// 0. With it a first step takes what it takes before its launches, planning and NVRTC, on machines without a GPU.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "runtime/cuda/driver_api.h"

namespace {

using namespace sinter::runtime::cuda;

int attribute(DeviceAttribute which) {
  switch (which) {
    case DeviceAttribute::MaxThreadsPerBlock: return 1024;
    case DeviceAttribute::MaxGridDimX: return INT32_MAX;
    case DeviceAttribute::MaxSharedMemoryPerBlock: return 48 << 10;
    case DeviceAttribute::WarpSize: return 32;
    case DeviceAttribute::MaxRegistersPerBlock:
    case DeviceAttribute::MaxRegistersPerMultiprocessor: return 64 << 10;
    case DeviceAttribute::ClockRate: return 1980000;
    case DeviceAttribute::MultiprocessorCount: return 132;
    case DeviceAttribute::ComputeMode: return 0;
    case DeviceAttribute::MemoryClockRate: return 2619000;
    case DeviceAttribute::GlobalMemoryBusWidth: return 5120;
    case DeviceAttribute::L2CacheSize: return 50 << 20;
    case DeviceAttribute::MaxThreadsPerMultiprocessor: return 2048;
    case DeviceAttribute::ComputeCapabilityMajor: return 9;
    case DeviceAttribute::ComputeCapabilityMinor: return 0;
    case DeviceAttribute::MaxSharedMemoryPerMultiprocessor: return 228 << 10;
    case DeviceAttribute::MaxSharedMemoryPerBlockOptin: return 227 << 10;
    case DeviceAttribute::MaxBlocksPerMultiprocessor: return 32;
    case DeviceAttribute::ReservedSharedMemoryPerBlock: return 1 << 10;
  }
  return 0;
}

int attribute(FunctionAttribute which) {
  switch (which) {
    case FunctionAttribute::MaxThreadsPerBlock: return 1024;
    case FunctionAttribute::NumRegs: return 64;
    case FunctionAttribute::BinaryVersion: return 90;
    default: return 0;
  }
}

/// What a function of the API without a meaning here does: a handle that it makes is not null.
template <class First, class... Rest>
CudaResult idle(First first, Rest...) {
  static char handle;
  if constexpr (std::is_pointer_v<First> && std::is_pointer_v<std::remove_pointer_t<First>>)
    if constexpr (!std::is_const_v<std::remove_pointer_t<std::remove_pointer_t<First>>>)
      *first = reinterpret_cast<std::remove_pointer_t<First>>(&handle);
  return CudaResult::Success;
}
CudaResult idle() { return CudaResult::Success; }

template <class F>
struct Idle;
template <class... P>
struct Idle<CudaResult (*)(P...)> {
  static CudaResult call(P... p) { return idle(p...); }
};

DriverApi make_table() {
  DriverApi t;
#define FN(field, symbol, ...) t.field = Idle<decltype(t.field)>::call;
#include "runtime/cuda/driver.def"
#undef FN
  constexpr size_t kMemory = size_t{80} << 30;
  t.driver_get_version = [](int* version) { return *version = 13000, CudaResult::Success; };
  t.get_error_name = t.get_error_string = [](CudaResult, const char** text) {
    return *text = "an error of a device that computes nothing", CudaResult::Success;
  };
  t.device_get_count = [](int* count) { return *count = 1, CudaResult::Success; };
  t.device_get = [](DeviceNumber* device, int index) { return *device = index, CudaResult::Success; };
  t.device_get_name = [](char* name, int size, DeviceNumber) {
    return std::strncpy(name, "H100 that computes nothing", static_cast<size_t>(size)), CudaResult::Success;
  };
  t.device_get_uuid = [](Uuid* uuid, DeviceNumber) { return *uuid = {}, CudaResult::Success; };
  t.device_total_mem = [](size_t* bytes, DeviceNumber) { return *bytes = kMemory, CudaResult::Success; };
  t.device_get_attribute = [](int* value, DeviceAttribute which, DeviceNumber) {
    return *value = attribute(which), CudaResult::Success;
  };
  t.device_can_access_peer = [](int* can, DeviceNumber, DeviceNumber) { return *can = 0, CudaResult::Success; };
  t.mem_get_info = [](size_t* free, size_t* total) { return *free = *total = kMemory, CudaResult::Success; };
  t.mem_alloc = [](DevicePointer* memory, size_t bytes) {
    static std::atomic<DevicePointer> next{DevicePointer{1} << 40};
    *memory = next.fetch_add((bytes + 511) / 512 * 512);
    return CudaResult::Success;
  };
  t.mem_host_alloc = [](void** memory, size_t bytes, unsigned) {
    *memory = std::malloc(bytes);
    return *memory ? CudaResult::Success : CudaResult::OutOfMemory;
  };
  t.mem_free_host = [](void* memory) { return std::free(memory), CudaResult::Success; };
  t.memcpy_dtoh_async = [](void* to, DevicePointer, size_t bytes, StreamHandle) {
    return std::memset(to, 0, bytes), CudaResult::Success;
  };
  t.event_elapsed_time = [](float* ms, EventHandle, EventHandle) { return *ms = 1, CudaResult::Success; };
  t.func_get_attribute = [](int* value, FunctionAttribute which, FunctionHandle) {
    return *value = attribute(which), CudaResult::Success;
  };
  return t;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that is looked up
extern "C" CudaResult cuGetProcAddress_v2(const char* symbol, void** function, int, uint64_t, int* status) {
  static const DriverApi table = make_table();
  *status = 0;
  *function = nullptr;
#define FN(field, name, ...) \
  if (std::string_view(symbol) == #name) *function = reinterpret_cast<void*>(table.field);
#include "runtime/cuda/driver.def"
#undef FN
  return *function ? CudaResult::Success : CudaResult::NotFound;
}
