// The objects behind the simulated driver's handles.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cudasim/fault.h"
#include "cudasim/launch.h"
#include "runtime/cuda/simulator_api.h"

namespace sinter::runtime::cuda {

struct OpaqueContext {
  int device = 0;
};

struct OpaqueStream {
  std::deque<std::function<void()>> queue;
  uint64_t queued = 0, done = 0;  ///< work items since the stream was created
};

struct OpaqueEvent {
  int device = 0;
  StreamHandle stream = nullptr;  ///< where it was last recorded
  uint64_t after = 0;             ///< work items of that stream that precede it
  double time = 0;                ///< in ms, when these were done
  bool timed = true, recorded = false, reached = false;
};

struct OpaqueFunction {
  sim::SimKernel kernel;
  uint64_t dynamic_limit = 0;  ///< maximum bytes of dynamic shared memory per launch
};

struct OpaqueModule {
  sim::PtxModule text;
  std::vector<uint64_t> variables;  ///< addresses
  std::map<std::string, std::unique_ptr<OpaqueFunction>> functions;
};

/// A launch with its parameters by value.
struct BoundLaunch {
  FunctionHandle function = nullptr;
  sim::LaunchShape shape;
  std::vector<std::byte> parameters;
};

struct OpaqueGraphNode {
  BoundLaunch launch;
  size_t after =
      0;  ///< number of nodes, up to the last one it waits for, that precede everything it may run concurrently with
};
struct OpaqueGraph {
  std::vector<std::unique_ptr<OpaqueGraphNode>> nodes;  ///< each after the nodes it waits for
};
struct OpaqueGraphExec {
  struct NodeLaunch {
    GraphNodeHandle node;
    BoundLaunch bound;
    size_t after;
  };
  std::vector<NodeLaunch> launches;
};

namespace sim {

struct DeviceState {
  DeviceState(int index, uint64_t memory) : context{index}, memory(index, memory) {}
  OpaqueContext context;
  DeviceMemory memory;
  int retained = 0;
  CudaResult sticky = CudaResult::Success;
  OpaqueStream legacy;  ///< the default stream
  std::map<StreamHandle, std::unique_ptr<OpaqueStream>> streams;
  std::map<EventHandle, std::unique_ptr<OpaqueEvent>> events;
  std::map<ModuleHandle, std::unique_ptr<OpaqueModule>> modules;
};

struct DriverState {
  std::recursive_mutex mutex;
  Settings settings;
  bool initialized = false;
  std::vector<std::unique_ptr<DeviceState>> devices;
  std::map<GraphHandle, std::unique_ptr<OpaqueGraph>> graphs;
  std::map<GraphExecHandle, std::unique_ptr<OpaqueGraphExec>> execs;
  std::map<void*, size_t> pinned;
  std::map<std::string, CostCounters> counters;
  std::string fault, leaks;
};
DriverState& state();

/// The device of this thread's current context; null if it has none.
DeviceState* current();
void set_current(DeviceState* device);

/// Thrown inside an API function to return a result other than Success.
struct ApiError {
  CudaResult code;
};

/// The result that stands for an error, which no caller of the driver API may see. Call within a handler.
CudaResult result_of_error();

/// Runs `f` under the lock and returns its result, or Success if it has none. Errors become result codes.
template <typename F>
CudaResult api_call(F&& f) noexcept {
  try {
    std::lock_guard lock(state().mutex);
    try {
      if constexpr (std::is_void_v<decltype(f())>)
        return f(), CudaResult::Success;
      else
        return f();
    } catch (...) { return result_of_error(); }
  } catch (...) { return CudaResult::Unknown; }
}

/// The same for functions that need a valid context. `f` receives its device.
template <typename F>
CudaResult api_call_on_device(F&& f) {
  return api_call([&] {
    DeviceState* device = current();
    if (!device) return CudaResult::InvalidContext;
    if (device->sticky != CudaResult::Success) return device->sticky;
    CudaResult result = CudaResult::Success;
    if constexpr (std::is_void_v<decltype(f(*device))>)
      f(*device);
    else
      result = f(*device);
    return device->sticky != CudaResult::Success ? device->sticky : result;
  });
}

/// The object of a handle. Throws ApiError.
template <typename Handle, typename Object>
Object& object_of(const std::map<Handle, std::unique_ptr<Object>>& objects, Handle handle) {
  const auto found = objects.find(handle);
  if (found == objects.end()) throw ApiError{CudaResult::InvalidHandle};
  return *found->second;
}
/// The device among whose `objects` the handle is. Throws ApiError.
template <typename Handle, typename Object>
DeviceState& owner_of(std::map<Handle, std::unique_ptr<Object>> DeviceState::* objects, Handle handle) {
  for (const auto& device : state().devices)
    if (((*device).*objects).contains(handle)) return *device;
  throw ApiError{CudaResult::InvalidHandle};
}
/// Keeps an object, whose address is its handle.
template <typename Handle, typename Object>
Handle keep(std::map<Handle, std::unique_ptr<Object>>& objects, std::unique_ptr<Object> object) {
  const Handle handle = object.get();
  objects[handle] = std::move(object);
  return handle;
}

/// Enqueues work on a stream of the device. Null: the default stream, whose work is done at once, after all other work.
void enqueue(DeviceState& device, StreamHandle stream, std::function<void()> work);
/// Runs the stream's work up to item `count`. A fault becomes the device's sticky error and drops all its work.
void drain(DeviceState& device, OpaqueStream& stream, uint64_t count = UINT64_MAX);
void drain_all(DeviceState& device);
/// The stream of a handle. Throws ApiError.
OpaqueStream& stream_of(DeviceState& device, StreamHandle stream);

/// Checks and copies the arguments of a launch. Throws ApiError.
BoundLaunch bind_launch(FunctionHandle function, const LaunchShape& shape, void** parameters);
/// `unordered_since`: see LaunchOptions.
void run_bound_launch(DeviceState& device, const BoundLaunch& launch, uint32_t unordered_since = 0);

// Each fills a part of the table.
void fill_devices(DriverApi& table);
void fill_memory(DriverApi& table);
void fill_streams(DriverApi& table);
void fill_modules(DriverApi& table);
void fill_graphs(DriverApi& table);

}  // namespace sim
}  // namespace sinter::runtime::cuda
