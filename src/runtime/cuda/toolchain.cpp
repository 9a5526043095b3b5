// CUDA C++ by NVRTC, or by Clang for simulated devices; images are loaded by each device when a program first runs
// there.
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
#include "runtime/sanitizer.h"
#include "sinter/error.h"

namespace sinter::runtime::cuda {
namespace {

constexpr int kMostThreads = 16;

class CudaToolchain final : public Toolchain {
 public:
  CudaToolchain(ImageCompiler compiler, int sm) : compiler_(std::move(compiler)), sm_(sm) {}

  std::string id() const override { return compiler_.id(sm_); }

  std::vector<CompileResult> build(std::span<const KernelSource* const> kernels) const override {
    std::vector<CompileResult> results(kernels.size());
    count(counters().compiles, kernels.size());
    // ThreadSanitizer does not see how NVRTC guards what it makes at a first use.
    const int threads = kSanitizer == Sanitizer::Thread ? 1 : std::clamp(usable_cpus(), 1, kMostThreads);
    cpu::side_by_side(kernels.size(), threads,
                      [&](size_t k) { results[k] = compiler_.compile(kernels[k]->name, kernels[k]->text, sm_); });
    return results;
  }

  std::shared_ptr<const Program> load(const KernelSource& kernel, Hash128 key, std::string_view object) const override {
    std::string image(object);
    if (!fits(image, sm_))
      throw BackendError(fmt::format("kernel {}: what was made of it is not for sm_{}", kernel.name, sm_));
    return std::make_shared<Program>(kernel, key, std::make_unique<Image>(kernel, std::move(image)));
  }

  std::string listing(const KernelSource& kernel, const Program& program) const override {
    if (compiler_.form == Form::Ptx) return program.image()->bytes();
    return compile(*compiler_.nvrtc, kernel.name, kernel.text, sm_, Form::Ptx).object;
  }

 private:
  const ImageCompiler compiler_;
  const int sm_;
};

}  // namespace

std::unique_ptr<const Toolchain> toolchain(const Target& target) {
  const FoundDriver& driver = find_driver();
  if (!driver.table) throw BackendError(fmt::format("kernels for GPUs cannot be compiled: {}", driver.reason));
  ImageCompiler compiler = compiler_of(driver);
  if (!compiler.reason.empty()) throw BackendError(compiler.reason);
  return std::make_unique<CudaToolchain>(std::move(compiler), target.sm);
}

}  // namespace sinter::runtime::cuda
