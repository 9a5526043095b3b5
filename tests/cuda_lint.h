// What NVRTC says about kernels for a GPU. Nothing runs, so none is needed.
#pragma once

#include <algorithm>
#include <vector>

#include "catch.h"
#include "ptxas_lint.h"
#include "runtime/base/target.h"
#include "runtime/cuda/compile_cuda.h"
#include "runtime/program/program.h"
#include "skip.h"

/// No register is spilled, and neither shared memory nor registers are more than a block may have. Nothing is checked
/// where there is no NVRTC.
inline void check_lint(const std::vector<sinter::runtime::KernelSource>& kernels,
                       const sinter::runtime::Target& target) {
  namespace gpu = sinter::runtime::cuda;
  const gpu::NvrtcLibrary& nvrtc = gpu::find_nvrtc();
  if (!nvrtc.table) SKIP_TEST("no NVRTC");
  for (const sinter::runtime::KernelSource& kernel : kernels) {
    INFO("sm_" << target.sm << "\n" << kernel.text);
    const sinter::runtime::CompileResult made =
        gpu::compile(nvrtc, kernel.name, kernel.text, target.sm, gpu::ImageFormat::Cubin);
    INFO(made.log);
    CHECK(made.ok);
    const gpu::Lint lint = gpu::lint_of(made.log);
    CHECK(lint.warnings.empty());
    CHECK(lint.kernels.size() == (kernel.has_epilogue ? 2 : 1));
    for (const gpu::KernelLint& k : lint.kernels) {
      CHECK(k.spill_stores + k.spill_loads == 0);
      CHECK(k.shared + kernel.shared <= target.shared);
      const int threads = k.name.ends_with("_finish") ? kernel.epilogue_threads : kernel.threads;
      CHECK(k.registers * threads <= 64 << 10);  // of a multiprocessor
    }
  }
}
