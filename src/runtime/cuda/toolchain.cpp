// CUDA C++ by NVRTC; images are loaded by each device when a program first runs there.
#include "runtime/toolchain.h"

#include <fmt/core.h>

#include <algorithm>

#include "runtime/counters.h"
#include "runtime/cpu/threads.h"
#include "runtime/cuda/compile.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/kernel.h"
#include "runtime/machine.h"
#include "runtime/program.h"
#include "sinter/error.h"

namespace sinter::runtime::cuda {
namespace {

constexpr int kMostThreads = 16;

class CudaToolchain final : public Toolchain {
 public:
  CudaToolchain(const FoundNvrtc& nvrtc, int sm, Form form) : nvrtc_(nvrtc), sm_(sm), form_(form) {}

  std::string id() const override { return compiler_id(nvrtc_, sm_, form_); }

  std::vector<CompileResult> build(std::span<const KernelSource* const> kernels) const override {
    std::vector<CompileResult> results(kernels.size());
    count(counters().compiles, kernels.size());
    cpu::side_by_side(kernels.size(), std::clamp(usable_cpus(), 1, kMostThreads),
                      [&](size_t k) { results[k] = compile(nvrtc_, kernels[k]->name, kernels[k]->text, sm_, form_); });
    return results;
  }

  std::shared_ptr<const Program> load(const KernelSource& kernel, Hash128 key, std::string_view object) const override {
    std::string image(object);
    if (!fits(image, sm_))
      throw BackendError(fmt::format("kernel {}: what was made of it is not for sm_{}", kernel.name, sm_));
    return std::make_shared<Program>(kernel, key, std::make_unique<Image>(kernel, std::move(image)));
  }

  std::string listing(const KernelSource& kernel, const Program& program) const override {
    return form_ == Form::Ptx ? program.image()->bytes()
                              : compile(nvrtc_, kernel.name, kernel.text, sm_, Form::Ptx).object;
  }

 private:
  const FoundNvrtc& nvrtc_;
  const int sm_;
  const Form form_;
};

}  // namespace

std::unique_ptr<const Toolchain> toolchain(const Target& target) {
  const FoundDriver& driver = find_driver();
  if (!driver.table) throw BackendError(fmt::format("kernels for GPUs cannot be compiled: {}", driver.reason));
  const ImageCompiler compiler = compiler_of(driver);
  if (!compiler.reason.empty()) throw BackendError(compiler.reason);
  return std::make_unique<CudaToolchain>(*compiler.nvrtc, target.sm, compiler.form);
}

}  // namespace sinter::runtime::cuda
