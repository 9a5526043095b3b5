// The kernels of the golden programs as NVRTC takes them: for each kind of GPU, with no register spilled and no more shared memory
// than there is. Nothing runs, so no GPU is needed.
#include <algorithm>
#include <iostream>

#include "catch.h"
#include "programs.h"
#include "runtime/cuda/compile.h"
#include "runtime/cuda/lint.h"
#include "tensor/explain.h"

using namespace sinter;
namespace gpu = runtime::cuda;

TEST_CASE("NVRTC compiles the kernels of golden programs without a lint", "[golden][cuda]") {
  const gpu::FoundNvrtc& nvrtc = gpu::find_nvrtc();
  if (!nvrtc.table) {
    std::cout << "SKIP: " << nvrtc.reason << "\n";
    return;
  }
  struct Gpu {
    int sm;
    int64_t shared;  ///< bytes that a block may have
  };
  for (const Gpu& device : {Gpu{80, 163 << 10}, Gpu{90, 227 << 10}, Gpu{100, 227 << 10}, Gpu{120, 99 << 10}}) {
    const runtime::Target target = runtime::cuda_target({.sm = device.sm, .shared_bytes = device.shared});
    for (const golden::Program& program : golden::programs())
      for (const runtime::KernelSource& kernel : tensor::explain(program.build(), target).sources) {
        INFO(program.name << " for sm_" << device.sm << "\n" << kernel.text);
        const runtime::CompileResult made = gpu::compile(nvrtc, kernel.name, kernel.text, device.sm, gpu::Form::Cubin);
        INFO(made.log);
        CHECK(made.ok);
        const gpu::Lint lint = gpu::lint_of(made.log);
        CHECK(lint.warnings.empty());
        CHECK(lint.kernels.size() == (kernel.has_finish ? 2 : 1));
        for (const gpu::KernelLint& k : lint.kernels) {
          CHECK(k.spill_stores + k.spill_loads == 0);
          CHECK(k.shared + kernel.shared <= device.shared);
          CHECK(k.registers * std::max(kernel.threads, kernel.finish_threads) <= 64 << 10);  // of a multiprocessor
        }
      }
  }
}
