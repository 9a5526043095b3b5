// Kernels on the simulated GPU, for tests: from CUDA text or PTX, on memory that is filled and read back.
#pragma once

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "catch.h"
#include "runtime/cuda/clang_ptx.h"
#include "runtime/cuda/simulator.h"
#include "sinter/error.h"

namespace cuda_sim_test {

namespace cuda = sinter::runtime::cuda;
namespace sim = sinter::runtime::cuda::sim;
using cuda::CudaResult;

/// PTX of a CUDA text for compute capability 9.0. Throws CompileError with the log if it does not compile.
std::string ptx_of(const std::string& text);

/// The context of device 0 for as long as it lives, with settings and reports as a new process has them.
class Gpu {
 public:
  explicit Gpu(sim::Settings settings = {});
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const cuda::DriverApi& driver() const { return cuda::simulated_driver(); }
  cuda::StreamHandle stream() const { return stream_; }

  /// Memory that nothing has written.
  cuda::DevicePointer allocate(size_t bytes);
  template <typename T>
  cuda::DevicePointer upload(const std::vector<T>& values) {
    const cuda::DevicePointer memory = allocate(values.size() * sizeof(T));
    CHECK(driver().memcpy_htod_async(memory, values.data(), values.size() * sizeof(T), stream_) == CudaResult::Success);
    return memory;
  }
  template <typename T>
  std::vector<T> download(cuda::DevicePointer memory, size_t count) {
    std::vector<T> values(count);
    INFO(sim::last_fault());
    CHECK(driver().memcpy_dtoh_async(values.data(), memory, count * sizeof(T), stream_) == CudaResult::Success);
    return values;
  }

  /// The kernel `name` of a module, which stays loaded.
  cuda::FunctionHandle load(const std::string& ptx, const std::string& name);
  /// Launches and waits. Parameters are 8 bytes each.
  CudaResult launch(cuda::FunctionHandle function, unsigned blocks, unsigned threads, std::vector<uint64_t> parameters,
                    unsigned shared = 0);

 private:
  cuda::StreamHandle stream_ = nullptr;
  std::vector<cuda::ModuleHandle> modules_;
  std::vector<cuda::DevicePointer> memory_;
};

}  // namespace cuda_sim_test
