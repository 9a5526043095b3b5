// Memory of the simulated devices and of the host. Copies are work of a stream. As in the API, ordinary host memory is
// read at once, pinned memory when the copy runs.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "cudasim/driver_handles.h"

namespace sinter::runtime::cuda::sim {
namespace {

struct DeviceRange {
  MemoryRegion* region;
  uint64_t at;
};

/// The allocation that contains all of the bytes, on any device. Throws ApiError.
DeviceRange range_of(DevicePointer address, size_t bytes) {
  for (const auto& device : state().devices)
    if (MemoryRegion* region = device->memory.find(address)) {
      const uint64_t at = address - region->base;
      if (bytes <= region->bytes - at) return {region, at};
    }
  state().fault = fmt::format("a copy or fill of {} bytes: {}", bytes,
                              state().devices.empty() ? "no device" : state().devices[0]->memory.describe(address));
  throw ApiError{CudaResult::InvalidValue};
}

bool is_pinned(const void* memory) {
  const auto& pinned = state().pinned;
  auto after = pinned.upper_bound(const_cast<void*>(memory));
  if (after == pinned.begin()) return false;
  --after;
  return static_cast<const char*>(memory) < static_cast<char*>(after->first) + after->second;
}

void allocate(DeviceState& device, DevicePointer* memory, size_t bytes) {
  if (bytes == 0) throw ApiError{CudaResult::InvalidValue};
  int& countdown = state().settings.fail_allocation;
  const MemoryRegion* region = countdown && --countdown == 0 ? nullptr : device.memory.allocate(bytes);
  if (!region) throw ApiError{CudaResult::OutOfMemory};
  *memory = region->base;
}

/// Freeing waits for all work of the device.
CudaResult free_memory(DeviceState& device, DevicePointer memory) {
  if (memory == 0) return CudaResult::Success;
  drain_all(device);
  if (device.sticky != CudaResult::Success) return device.sticky;
  if (device.memory.free(memory)) return CudaResult::Success;
  state().fault = "mem_free: " + device.memory.describe(memory) + "; it is not the start of a live allocation";
  return CudaResult::InvalidValue;
}

void write(DeviceRange to, const std::byte* from, size_t bytes) {
  std::memcpy(to.region->data.get() + to.at, from, bytes);
  std::memset(to.region->state.get() + to.at, kInitialized, bytes);
}

void copy_in(DeviceState& device, DevicePointer to, const void* from, size_t bytes, StreamHandle stream) {
  range_of(to, bytes);
  const auto* start = static_cast<const std::byte*>(from);
  if (is_pinned(from)) return enqueue(device, stream, [=] { write(range_of(to, bytes), start, bytes); });
  enqueue(device, stream, [to, copy = std::vector<std::byte>(start, start + bytes)] {
    write(range_of(to, copy.size()), copy.data(), copy.size());
  });
}

/// Waits if the destination is ordinary host memory, as the driver does.
void copy_out(DeviceState& device, void* to, DevicePointer from, size_t bytes, StreamHandle stream) {
  range_of(from, bytes);
  enqueue(device, stream, [=] {
    const DeviceRange range = range_of(from, bytes);
    std::memcpy(to, range.region->data.get() + range.at, bytes);
  });
  if (!is_pinned(to)) drain(device, stream_of(device, stream));
}

/// Copies the shadow state too: bytes that were never written stay so at the destination.
void copy_across(DeviceState& device, DevicePointer to, DevicePointer from, size_t bytes, StreamHandle stream) {
  range_of(to, bytes), range_of(from, bytes);
  enqueue(device, stream, [=] {
    const DeviceRange target = range_of(to, bytes), source = range_of(from, bytes);
    std::memmove(target.region->data.get() + target.at, source.region->data.get() + source.at, bytes);
    std::memmove(target.region->state.get() + target.at, source.region->state.get() + source.at, bytes);
  });
}

void fill(DeviceState& device, DevicePointer memory, unsigned char value, size_t bytes, StreamHandle stream) {
  range_of(memory, bytes);
  enqueue(device, stream, [=] {
    const std::vector<std::byte> values(bytes, static_cast<std::byte>(value));
    write(range_of(memory, bytes), values.data(), bytes);
  });
}

}  // namespace

void fill_memory(DriverApi& table) {
  table.mem_get_info = [](size_t* free, size_t* total) {
    return api_call_on_device([&](DeviceState& device) {
      *total = device.memory.total();
      *free = *total - std::min(*total, device.memory.used());
    });
  };
  table.mem_alloc = [](DevicePointer* memory, size_t bytes) {
    return api_call_on_device([&](DeviceState& device) { return allocate(device, memory, bytes); });
  };
  table.mem_free = [](DevicePointer memory) {
    return api_call_on_device([&](DeviceState& device) { return free_memory(device, memory); });
  };
  table.mem_host_alloc = [](void** memory, size_t bytes, unsigned) {
    return api_call_on_device([&](DeviceState&) {
      *memory = std::calloc(bytes ? bytes : 1, 1);
      if (!*memory) throw std::bad_alloc();
      state().pinned[*memory] = bytes;
    });
  };
  table.mem_free_host = [](void* memory) {
    return api_call([&] {
      for (const auto& device : state().devices) drain_all(*device);
      if (!state().pinned.erase(memory)) throw ApiError{CudaResult::InvalidValue};
      std::free(memory);
    });
  };
  table.memcpy_htod_async = [](DevicePointer to, const void* from, size_t bytes, StreamHandle stream) {
    return api_call_on_device([&](DeviceState& device) { return copy_in(device, to, from, bytes, stream); });
  };
  table.memcpy_dtoh_async = [](void* to, DevicePointer from, size_t bytes, StreamHandle stream) {
    return api_call_on_device([&](DeviceState& device) { return copy_out(device, to, from, bytes, stream); });
  };
  table.memcpy_dtod_async = [](DevicePointer to, DevicePointer from, size_t bytes, StreamHandle stream) {
    return api_call_on_device([&](DeviceState& device) { return copy_across(device, to, from, bytes, stream); });
  };
  table.memcpy_peer_async = [](DevicePointer to, ContextHandle, DevicePointer from, ContextHandle, size_t bytes,
                               StreamHandle stream) {
    return api_call_on_device([&](DeviceState& device) { return copy_across(device, to, from, bytes, stream); });
  };
  table.memset_d8_async = [](DevicePointer memory, unsigned char value, size_t count, StreamHandle stream) {
    return api_call_on_device([&](DeviceState& device) { return fill(device, memory, value, count, stream); });
  };
}

}  // namespace sinter::runtime::cuda::sim
