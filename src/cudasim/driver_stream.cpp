// Streams and events. Work runs only when it is waited for or queried; a query runs one item.
#include <algorithm>
#include <chrono>

#include "cudasim/driver_handles.h"

namespace sinter::runtime::cuda::sim {
namespace {

double milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void do_one(DeviceState& device, OpaqueStream& stream) {
  const std::function<void()> work = std::move(stream.queue.front());
  stream.queue.pop_front();
  ++stream.done;
  const auto fail = [&](CudaResult code, const char* what) {
    device.sticky = code;
    state().fault = what;
    device.legacy.queue.clear();
    for (auto& [handle, other] : device.streams) other->queue.clear();
  };
  try {
    work();
  } catch (const Fault& fault) {
    fail(fault.code(), fault.what());
  } catch (const std::exception& error) {  // of the simulator itself, such as no memory
    fail(CudaResult::Unknown, error.what());
  }
}

OpaqueEvent& event_of(EventHandle event) { return object_of(owner_of(&DeviceState::events, event).events, event); }

/// Runs the work that precedes the event, on whichever device it is.
void reach(const OpaqueEvent& event) {
  if (!event.recorded) return;
  DeviceState& device = *state().devices[static_cast<size_t>(event.device)];
  const auto found = device.streams.find(event.stream);
  if (found != device.streams.end()) drain(device, *found->second, event.after);
}

void record(DeviceState& device, OpaqueEvent& event, StreamHandle stream) {
  event.recorded = true;
  event.reached = false;
  event.device = device.context.device;
  event.stream = stream;
  enqueue(device, stream, [&device, handle = &event] {
    const auto found = device.events.find(handle);
    if (found == device.events.end()) return;  // destroyed meanwhile
    found->second->time = milliseconds();
    found->second->reached = true;
  });
  event.after = stream_of(device, stream).queued;
}

}  // namespace

OpaqueStream& stream_of(DeviceState& device, StreamHandle stream) {
  return stream ? object_of(device.streams, stream) : device.legacy;
}

void enqueue(DeviceState& device, StreamHandle handle, std::function<void()> work) {
  OpaqueStream& stream = stream_of(device, handle);
  stream.queue.push_back(std::move(work));
  ++stream.queued;
  if (!handle) drain_all(device);
}

void drain(DeviceState& device, OpaqueStream& stream, uint64_t count) {
  while (!stream.queue.empty() && stream.done < count) do_one(device, stream);
}

void drain_all(DeviceState& device) {
  for (auto& [handle, stream] : device.streams) drain(device, *stream);
  drain(device, device.legacy);
}

void fill_streams(DriverApi& table) {
  table.stream_create = [](StreamHandle* stream, unsigned) {
    return api_call_on_device(
        [&](DeviceState& device) { *stream = keep(device.streams, std::make_unique<OpaqueStream>()); });
  };
  table.stream_destroy = [](StreamHandle stream) {
    return api_call([&] {
      DeviceState& device = owner_of(&DeviceState::streams, stream);
      drain(device, *stream);
      device.streams.erase(stream);
    });
  };
  table.stream_synchronize = [](StreamHandle stream) {
    return api_call_on_device([&](DeviceState& device) { drain(device, stream_of(device, stream)); });
  };
  table.stream_query = [](StreamHandle handle) {
    return api_call_on_device([&](DeviceState& device) {
      OpaqueStream& stream = stream_of(device, handle);
      if (stream.queue.empty()) return CudaResult::Success;
      do_one(device, stream);
      return CudaResult::NotReady;
    });
  };
  // Waits for the event's last record before this call, even if it is recorded again later.
  table.stream_wait_event = [](StreamHandle stream, EventHandle event, unsigned) {
    return api_call_on_device([&](DeviceState& device) {
      const OpaqueEvent snapshot = event_of(event);
      enqueue(device, stream, [snapshot] { reach(snapshot); });
    });
  };
  table.event_create = [](EventHandle* event, unsigned flags) {
    return api_call_on_device([&](DeviceState& device) {
      auto made = std::make_unique<OpaqueEvent>();
      made->device = device.context.device;
      made->timed = !(flags & kEventDisableTiming);
      *event = keep(device.events, std::move(made));
    });
  };
  table.event_destroy = [](EventHandle event) {
    return api_call([&] { owner_of(&DeviceState::events, event).events.erase(event); });
  };
  table.event_record = [](EventHandle event, StreamHandle stream) {
    return api_call_on_device([&](DeviceState& device) { record(device, event_of(event), stream); });
  };
  table.event_query = [](EventHandle handle) {
    return api_call_on_device([&](DeviceState& device) {
      OpaqueEvent& event = event_of(handle);
      if (!event.recorded || event.reached) return CudaResult::Success;
      OpaqueStream& stream = stream_of(device, event.stream);
      if (!stream.queue.empty()) do_one(device, stream);
      return CudaResult::NotReady;
    });
  };
  table.event_synchronize = [](EventHandle event) {
    return api_call_on_device([&](DeviceState&) { reach(event_of(event)); });
  };
  table.event_elapsed_time = [](float* elapsed, EventHandle start, EventHandle end) {
    return api_call_on_device([&](DeviceState&) {
      const OpaqueEvent &from = event_of(start), &to = event_of(end);
      if (!from.timed || !to.timed || !from.recorded || !to.recorded) return CudaResult::InvalidHandle;
      if (!from.reached || !to.reached) return CudaResult::NotReady;
      *elapsed = static_cast<float>(to.time - from.time);
      return CudaResult::Success;
    });
  };
}

}  // namespace sinter::runtime::cuda::sim
