// The kernels of the golden programs as NVRTC takes them: for each kind of GPU, with no register spilled and no more shared memory
// than there is. Nothing runs, so no GPU is needed.
#include <iostream>

#include "catch.h"
#include "cuda_lint.h"
#include "programs.h"
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
    for (const golden::Program& program : golden::programs()) {
      INFO(program.name);
      check_lint(tensor::explain(program.build(), target).sources, target);
    }
  }
}
