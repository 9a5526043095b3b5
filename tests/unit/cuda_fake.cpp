#include "cuda_fake.h"
#include "sinter/debug.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

namespace cuda_test {
namespace {

FakeDriverState* fake = nullptr;  ///< the one that is installed
std::mutex mutex;                 ///< of its lists

/// Handles are names: a module's is the image, a function's the kernel.
struct GraphState {
  std::vector<std::pair<GraphNodeHandle, KernelNodeParams>> nodes;
  std::vector<std::vector<uint64_t>> parameters;
};

template <class H, class T>
H handle(T* state) {
  return reinterpret_cast<H>(state);
}
template <class T, class H>
T* state(H handle) {
  return reinterpret_cast<T*>(handle);
}

std::vector<uint64_t> read(void** parameters, size_t count) {
  std::vector<uint64_t> out;
  for (size_t i = 0; i < count; ++i) out.push_back(*static_cast<uint64_t*>(parameters[i]));
  return out;
}

/// What stands in for a kernel's code: its name, and how many parameters the test says it has ("name/3").
struct FunctionState {
  std::string name;
  size_t parameters = 0;
};

CudaResult run(FunctionState* f, unsigned blocks, const std::vector<uint64_t>& parameters) {
  if (fake->fault != CudaResult::Success) return fake->fault;
  const auto found = fake->kernels.find(f->name);
  if (found != fake->kernels.end()) found->second(parameters, blocks);
  return CudaResult::Success;
}

CudaResult work() { return fake->fault; }

template <class H>
CudaResult make(H* out, int& count) {
  ++count;
  *out = handle<H>(new int(0));
  return CudaResult::Success;
}
template <class H>
CudaResult end(H h, int& count) {
  --count;
  delete state<int>(h);
  return CudaResult::Success;
}

DriverApi table() {
  DriverApi d;
  d.init = [](unsigned) { return fake->init; };
  d.driver_get_version = [](int* v) { return *v = fake->version, CudaResult::Success; };
  d.get_error_name = [](CudaResult code, const char** text) {
    *text = code == CudaResult::IllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER";
    return CudaResult::Success;
  };
  d.get_error_string = [](CudaResult, const char** text) { return *text = "what it means", CudaResult::Success; };
  d.device_get_count = [](int* n) { return *n = fake->devices, CudaResult::Success; };
  d.device_get = [](DeviceNumber* out, int index) { return *out = index, CudaResult::Success; };
  d.device_get_name = [](char* name, int size, DeviceNumber) {
    std::strncpy(name, "Fake GPU", static_cast<size_t>(size));
    return CudaResult::Success;
  };
  d.device_get_uuid = [](Uuid* uuid, DeviceNumber n) {
    *uuid = {};
    uuid->bytes[0] = static_cast<unsigned char>(n);
    return CudaResult::Success;
  };
  d.device_total_mem = [](size_t* bytes, DeviceNumber) { return *bytes = fake->memory, CudaResult::Success; };
  d.device_get_attribute = [](int* value, DeviceAttribute a, DeviceNumber) {
    const std::map<DeviceAttribute, int> values = {
        {DeviceAttribute::ComputeCapabilityMajor, fake->sm / 10},
        {DeviceAttribute::ComputeCapabilityMinor, fake->sm % 10},
        {DeviceAttribute::WarpSize, 32},
        {DeviceAttribute::MaxThreadsPerBlock, 1024},
        {DeviceAttribute::MultiprocessorCount, 4},
        {DeviceAttribute::MaxSharedMemoryPerBlockOptin, fake->shared_per_block}};
    const auto found = values.find(a);
    *value = found == values.end() ? 1 : found->second;
    return CudaResult::Success;
  };
  d.device_can_access_peer = [](int* can, DeviceNumber, DeviceNumber) { return *can = 1, CudaResult::Success; };
  d.device_primary_ctx_retain = [](ContextHandle* out, DeviceNumber n) {
    ++fake->contexts;
    return *out = handle<ContextHandle>(reinterpret_cast<char*>(intptr_t{n + 1})), CudaResult::Success;
  };
  d.device_primary_ctx_release = [](DeviceNumber) { return --fake->contexts, CudaResult::Success; };
  d.ctx_set_current = [](ContextHandle) { return CudaResult::Success; };
  d.ctx_synchronize = [] { return work(); };
  d.ctx_enable_peer_access = [](ContextHandle, unsigned) { return fake->calls.push_back("peer"), CudaResult::Success; };
  d.mem_get_info = [](size_t* left, size_t* total) {
    return *left = fake->memory - fake->used, *total = fake->memory, CudaResult::Success;
  };
  d.mem_alloc = [](DevicePointer* out, size_t bytes) {
    const std::lock_guard lock(mutex);
    if (fake->fault != CudaResult::Success) return fake->fault;
    if (fake->used + bytes > fake->memory) return CudaResult::OutOfMemory;
    *out = reinterpret_cast<DevicePointer>(std::aligned_alloc(256, bytes));
    fake->allocations[*out] = bytes;
    fake->used += bytes;
    return CudaResult::Success;
  };
  d.mem_free = [](DevicePointer p) {
    const std::lock_guard lock(mutex);
    fake->used -= fake->allocations.at(p);
    fake->allocations.erase(p);
    std::free(reinterpret_cast<void*>(p));
    return CudaResult::Success;
  };
  d.mem_host_alloc = [](void** out, size_t bytes, unsigned) {
    return ++fake->host_allocations, *out = std::malloc(bytes), CudaResult::Success;
  };
  d.mem_free_host = [](void* p) { return --fake->host_allocations, std::free(p), CudaResult::Success; };
  d.memcpy_htod_async = [](DevicePointer to, const void* from, size_t bytes, StreamHandle) {
    return std::memcpy(reinterpret_cast<void*>(to), from, bytes), work();
  };
  d.memcpy_dtoh_async = [](void* to, DevicePointer from, size_t bytes, StreamHandle) {
    return std::memcpy(to, reinterpret_cast<void*>(from), bytes), work();
  };
  d.memcpy_dtod_async = [](DevicePointer to, DevicePointer from, size_t bytes, StreamHandle) {
    return std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes), work();
  };
  d.memcpy_peer_async = [](DevicePointer to, ContextHandle, DevicePointer from, ContextHandle, size_t bytes,
                           StreamHandle) {
    return std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes), work();
  };
  d.memset_d8_async = [](DevicePointer p, unsigned char value, size_t bytes, StreamHandle) {
    return std::memset(reinterpret_cast<void*>(p), value, bytes), work();
  };
  d.stream_create = [](StreamHandle* out, unsigned) { return make(out, fake->streams); };
  d.stream_destroy = [](StreamHandle s) { return end(s, fake->streams); };
  d.stream_synchronize = [](StreamHandle) { return work(); };
  d.stream_wait_event = [](StreamHandle, EventHandle, unsigned) { return work(); };
  d.event_create = [](EventHandle* out, unsigned) { return make(out, fake->events); };
  d.event_destroy = [](EventHandle e) { return end(e, fake->events); };
  d.event_record = [](EventHandle, StreamHandle) { return work(); };
  d.event_synchronize = [](EventHandle) { return work(); };
  d.module_load_data_ex = [](ModuleHandle* out, const void* image, unsigned, JitOption*, void** values) {
    const std::lock_guard lock(mutex);
    const std::string text = static_cast<const char*>(image);
    if (text.find("broken") != std::string::npos) {
      std::strcpy(static_cast<char*>(values[0]), "line 3: no such thing");
      return CudaResult::InvalidPtx;
    }
    ++fake->modules;
    return *out = handle<ModuleHandle>(new std::string(text)), CudaResult::Success;
  };
  d.module_unload = [](ModuleHandle m) { return --fake->modules, delete state<std::string>(m), CudaResult::Success; };
  d.module_get_function = [](FunctionHandle* out, ModuleHandle m, const char* name) {
    const std::lock_guard lock(mutex);
    const std::string& text = *state<std::string>(m);
    const size_t at = text.find(std::string(name) + "/");
    if (at == std::string::npos) return CudaResult::NotFound;
    static std::map<std::string, FunctionState> functions;
    functions[name] = {name, static_cast<size_t>(std::atoi(text.c_str() + at + std::strlen(name) + 1))};
    return *out = handle<FunctionHandle>(&functions[name]), CudaResult::Success;
  };
  d.func_get_attribute = [](int* value, FunctionAttribute a, FunctionHandle) {
    *value = a == FunctionAttribute::SharedSizeBytes      ? fake->static_shared
             : a == FunctionAttribute::MaxThreadsPerBlock ? fake->most_threads
                                                          : 8;
    return CudaResult::Success;
  };
  d.func_set_attribute = [](FunctionHandle, FunctionAttribute a, int value) {
    const std::lock_guard lock(mutex);
    fake->calls.push_back("attribute " + std::to_string(static_cast<int>(a)) + " = " + std::to_string(value));
    return CudaResult::Success;
  };
  d.launch_kernel = [](FunctionHandle f, unsigned blocks, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       StreamHandle, void** parameters, void**) {
    const std::lock_guard lock(mutex);
    if (fake->next_launch != CudaResult::Success) return std::exchange(fake->next_launch, CudaResult::Success);
    auto* function = state<FunctionState>(f);
    fake->calls.push_back("launch " + function->name);
    return run(function, blocks, read(parameters, function->parameters));
  };
  d.graph_create = [](GraphHandle* out, unsigned) {
    return ++fake->graphs, *out = handle<GraphHandle>(new GraphState), CudaResult::Success;
  };
  d.graph_destroy = [](GraphHandle g) { return --fake->graphs, delete state<GraphState>(g), CudaResult::Success; };
  d.graph_add_kernel_node = [](GraphNodeHandle* out, GraphHandle g, const GraphNodeHandle*, size_t before,
                               const KernelNodeParams* k) {
    auto* graph = state<GraphState>(g);
    *out = handle<GraphNodeHandle>(reinterpret_cast<char*>(graph->nodes.size() + 1));
    graph->nodes.emplace_back(*out, *k);
    graph->parameters.push_back(read(k->parameters, state<FunctionState>(k->function)->parameters));
    fake->calls.push_back("node " + state<FunctionState>(k->function)->name + " after " + std::to_string(before));
    return CudaResult::Success;
  };
  d.graph_instantiate_with_flags = [](GraphExecHandle* out, GraphHandle g, unsigned long long) {
    ++fake->graphs;
    return *out = handle<GraphExecHandle>(new GraphState(*state<GraphState>(g))), CudaResult::Success;
  };
  d.graph_exec_kernel_node_set_params = [](GraphExecHandle e, GraphNodeHandle node, const KernelNodeParams* k) {
    auto* graph = state<GraphState>(e);
    for (size_t i = 0; i < graph->nodes.size(); ++i)
      if (graph->nodes[i].first == node) {
        graph->nodes[i].second = *k;
        graph->parameters[i] = read(k->parameters, state<FunctionState>(k->function)->parameters);
      }
    fake->calls.push_back("update " + state<FunctionState>(k->function)->name);
    return CudaResult::Success;
  };
  d.graph_exec_destroy = [](GraphExecHandle e) {
    return --fake->graphs, delete state<GraphState>(e), CudaResult::Success;
  };
  d.graph_launch = [](GraphExecHandle e, StreamHandle) {
    auto* graph = state<GraphState>(e);
    fake->calls.push_back("graph");
    for (size_t i = 0; i < graph->nodes.size(); ++i) {
      auto* f = state<FunctionState>(graph->nodes[i].second.function);
      if (const CudaResult code = run(f, graph->nodes[i].second.grid_x, graph->parameters[i]);
          code != CudaResult::Success)
        return code;
    }
    return CudaResult::Success;
  };
  return d;
}

}  // namespace

FakeDriver::FakeDriver() : state_(std::make_unique<FakeDriverState>()) {
  fake = state_.get();
  look_again();
}
FakeDriver::~FakeDriver() {
  forget_devices();
  inject_driver(nullptr);
  for (const auto& [memory, bytes] : state_->allocations)
    std::free(reinterpret_cast<void*>(memory));  // of lost devices
  fake = nullptr;
}
void FakeDriver::look_again() {
  sinter::debug::clear_plans();  // those of another driver hold its images
  forget_devices();
  static const DriverApi all = table();
  inject_driver(&all);
}

}  // namespace cuda_test
