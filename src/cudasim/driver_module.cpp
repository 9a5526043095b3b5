// Modules from PTX text, functions, launches.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "cudasim/decode.h"
#include "cudasim/driver_handles.h"

namespace sinter::runtime::cuda::sim {
namespace {

constexpr uint64_t kStaticShared = 48 << 10, kSharedPerBlock = 227 << 10;

OpaqueFunction& function_of(FunctionHandle function) {
  for (const auto& device : state().devices)
    for (const auto& [handle, module] : device->modules)
      for (const auto& [name, own] : module->functions)
        if (own.get() == function) return *own;
  throw ApiError{CudaResult::InvalidHandle};
}

/// Allocates and initializes the module's global and constant variables.
void place_variables(DeviceState& device, OpaqueModule& module) {
  for (const PtxVariable& variable : module.text.variables) {
    if (variable.space != StateSpace::Global) {
      module.variables.push_back(0);
      continue;
    }
    MemoryRegion* region = device.memory.allocate(std::max<uint64_t>(1, static_cast<uint64_t>(variable.bytes)));
    if (!region) throw ApiError{CudaResult::OutOfMemory};
    std::ranges::copy(variable.values, reinterpret_cast<uint8_t*>(region->data.get()));
    std::memset(region->state.get(), kInitialized, region->bytes);  // the rest is zero
    module.variables.push_back(region->base);
  }
}

void unload(DeviceState& device, OpaqueModule& module) {
  for (const uint64_t address : module.variables)
    if (address) device.memory.free(address);
}

void write_log(const std::string& text, unsigned count, const JitOption* options, void** values) {
  char* buffer = nullptr;
  size_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == JitOption::ErrorLogBuffer) buffer = static_cast<char*>(values[i]);
    if (options[i] == JitOption::ErrorLogBufferSizeBytes) bytes = reinterpret_cast<uintptr_t>(values[i]);
  }
  if (buffer && bytes) fmt::format_to_n(buffer, bytes - 1, "{}", text).out[0] = 0;
}

CudaResult load(DeviceState& device, ModuleHandle* out, const char* image, unsigned count, const JitOption* options,
                void** values) {
  auto module = std::make_unique<OpaqueModule>();
  try {
    module->text = parse_ptx(image);
    place_variables(device, *module);
    for (const PtxFunction& function : module->text.functions) {
      if (!function.entry) continue;
      auto made = std::make_unique<OpaqueFunction>();
      made->kernel = decode(module->text, function, module->variables);
      if (made->kernel.static_shared > kStaticShared)
        throw PtxError(fmt::format("{} declares {} bytes of shared memory, at most {} can be declared", function.name,
                                   made->kernel.static_shared, kStaticShared));
      made->dynamic_limit = kStaticShared - made->kernel.static_shared;
      module->functions[function.name] = std::move(made);
    }
  } catch (const PtxError& error) {
    unload(device, *module);
    state().fault = error.what();
    write_log(error.what(), count, options, values);
    return CudaResult::InvalidPtx;
  }
  *out = keep(device.modules, std::move(module));
  return CudaResult::Success;
}

int attribute_of(FunctionAttribute attribute, const OpaqueFunction& function) {
  switch (attribute) {
    case FunctionAttribute::MaxThreadsPerBlock: return static_cast<int>(function.kernel.max_threads);
    case FunctionAttribute::SharedSizeBytes: return static_cast<int>(function.kernel.static_shared);
    // Registers are virtual here: report a number far below any limit.
    case FunctionAttribute::LocalSizeBytes: return 0;
    case FunctionAttribute::NumRegs: return 32;
    case FunctionAttribute::BinaryVersion: return 90;
    case FunctionAttribute::MaxDynamicSharedSizeBytes: return static_cast<int>(function.dynamic_limit);
  }
  throw ApiError{CudaResult::InvalidValue};
}

void set_attribute(OpaqueFunction& function, FunctionAttribute attribute, int value) {
  if (attribute != FunctionAttribute::MaxDynamicSharedSizeBytes || value < 0 ||
      static_cast<uint64_t>(value) + function.kernel.static_shared > kSharedPerBlock)
    throw ApiError{CudaResult::InvalidValue};
  function.dynamic_limit = static_cast<uint64_t>(value);
}

}  // namespace

BoundLaunch bind_launch(FunctionHandle handle, const LaunchShape& shape, void** parameters) {
  const OpaqueFunction& function = function_of(handle);
  const SimKernel& kernel = function.kernel;
  const auto& [bx, by, bz] = shape.block;
  const auto& [gx, gy, gz] = shape.grid;
  if (!bx || !by || !bz || !gx || !gy || !gz || bz > 64 || gx > 0x7fffffff || gy > 65535 || gz > 65535)
    throw ApiError{CudaResult::InvalidValue};
  const uint64_t threads = uint64_t{bx} * by * bz;
  if (threads > 1024) throw ApiError{CudaResult::InvalidValue};
  if (threads > static_cast<uint64_t>(kernel.max_threads)) throw ApiError{CudaResult::LaunchOutOfResources};
  if (shape.dynamic_shared > function.dynamic_limit) throw ApiError{CudaResult::InvalidValue};
  BoundLaunch out{handle, shape, std::vector<std::byte>(kernel.params_bytes)};
  if (!parameters && !kernel.param_at.empty()) throw ApiError{CudaResult::InvalidValue};
  for (size_t i = 0; i < kernel.param_at.size(); ++i)
    std::memcpy(out.parameters.data() + kernel.param_at[i], parameters[i], kernel.param_bytes[i]);
  return out;
}

void run_bound_launch(DeviceState& device, const BoundLaunch& launch, uint32_t unordered_since) {
  const SimKernel& kernel = function_of(launch.function).kernel;
  Settings& settings = state().settings;
  if (settings.fail_launch && --settings.fail_launch == 0)
    throw Fault(CudaResult::LaunchFailed, fmt::format("kernel {}: a fault that a test asked for", kernel.name));
  settings.seed = settings.seed * 6364136223846793005u + 1442695040888963407u;
  CostCounters counted;
  run_launch(kernel, device.memory, launch.shape, launch.parameters.data(),
             {settings.seed, settings.check, unordered_since, settings.instructions}, counted);
  state().counters[kernel.name] += counted;
}

void fill_modules(DriverApi& table) {
  table.module_load_data_ex = [](ModuleHandle* module, const void* image, unsigned count, JitOption* options,
                                 void** values) {
    return api_call_on_device([&](DeviceState& device) {
      return load(device, module, static_cast<const char*>(image), count, options, values);
    });
  };
  table.module_unload = [](ModuleHandle module) {
    return api_call([&] {
      DeviceState& device = owner_of(&DeviceState::modules, module);
      drain_all(device);
      unload(device, *module);
      device.modules.erase(module);
    });
  };
  table.module_get_function = [](FunctionHandle* function, ModuleHandle module, const char* name) {
    return api_call_on_device([&](DeviceState&) {
      owner_of(&DeviceState::modules, module);  // checks the handle
      const auto found = module->functions.find(name);
      if (found == module->functions.end()) throw ApiError{CudaResult::NotFound};
      *function = found->second.get();
    });
  };
  table.func_get_attribute = [](int* value, FunctionAttribute attribute, FunctionHandle function) {
    return api_call([&] { *value = attribute_of(attribute, function_of(function)); });
  };
  table.func_set_attribute = [](FunctionHandle function, FunctionAttribute attribute, int value) {
    return api_call_on_device([&](DeviceState&) { set_attribute(function_of(function), attribute, value); });
  };
  table.launch_kernel = [](FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                           unsigned block_y, unsigned block_z, unsigned shared, StreamHandle stream, void** parameters,
                           void** extra) {
    return api_call_on_device([&](DeviceState& device) {
      if (extra) throw ApiError{CudaResult::NotSupported};
      const LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared};
      enqueue(device, stream,
              [&device, launch = bind_launch(function, shape, parameters)] { run_bound_launch(device, launch); });
    });
  };
}

}  // namespace sinter::runtime::cuda::sim
