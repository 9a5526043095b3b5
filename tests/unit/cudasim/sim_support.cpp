#include "sim_support.h"

#include "runtime/cuda/context.h"
#include "sinter/debug.h"

namespace cuda_sim_test {

std::string ptx_of(const std::string& text) {
  sinter::runtime::CompileResult result = cuda::compile_ptx(text, 90);
  if (!result.ok) throw sinter::CompileError("kernels.cu:\n" + result.log);
  return std::move(result.object);
}

Gpu::Gpu(sim::Settings settings) {
  sinter::debug::clear_plans();
  cuda::forget_devices();  // tests before this one used the device: it is as in a new process now
  sim::clear_reports();
  sim::configure(settings);
  REQUIRE(driver().init(0) == CudaResult::Success);
  cuda::ContextHandle context;
  REQUIRE(driver().device_primary_ctx_retain(&context, 0) == CudaResult::Success);
  REQUIRE(driver().ctx_set_current(context) == CudaResult::Success);
  REQUIRE(driver().stream_create(&stream_, cuda::kStreamNonBlocking) == CudaResult::Success);
}

Gpu::~Gpu() {
  for (const cuda::DevicePointer memory : memory_) driver().mem_free(memory);
  for (const cuda::ModuleHandle module : modules_) driver().module_unload(module);
  driver().stream_destroy(stream_);
  driver().device_primary_ctx_release(0);
  sim::configure({});
}

cuda::DevicePointer Gpu::allocate(size_t bytes) {
  cuda::DevicePointer memory = 0;
  REQUIRE(driver().mem_alloc(&memory, bytes) == CudaResult::Success);
  memory_.push_back(memory);
  return memory;
}

cuda::FunctionHandle Gpu::load(const std::string& ptx, const std::string& name) {
  cuda::ModuleHandle module = nullptr;
  cuda::FunctionHandle function = nullptr;
  const CudaResult loaded = driver().module_load_data_ex(&module, ptx.c_str(), 0, nullptr, nullptr);
  INFO(sim::last_fault());
  REQUIRE(loaded == CudaResult::Success);
  modules_.push_back(module);
  REQUIRE(driver().module_get_function(&function, module, name.c_str()) == CudaResult::Success);
  return function;
}

CudaResult Gpu::launch(cuda::FunctionHandle function, unsigned blocks, unsigned threads,
                       std::vector<uint64_t> parameters, unsigned shared) {
  std::vector<void*> pointers;
  for (uint64_t& parameter : parameters) pointers.push_back(&parameter);
  const CudaResult result = driver().launch_kernel(function, blocks, 1, 1, threads, 1, 1, shared, stream_,
                                                   pointers.empty() ? nullptr : pointers.data(), nullptr);
  return result == CudaResult::Success ? driver().stream_synchronize(stream_) : result;
}

}  // namespace cuda_sim_test
