// Compiles CUDA C++ with NVRTC, or with Clang for simulated devices. Each device loads an image when a program first
// runs there.
#include "runtime/program/toolchain.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "runtime/base/cache_origin.h"
#include "runtime/base/counters.h"
#include "runtime/base/sanitizer.h"
#include "runtime/cpu/start_threads.h"
#include "runtime/cuda/clang_ptx.h"
#include "runtime/cuda/compile_cuda.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/image.h"
#include "runtime/program/program.h"
#include "sinter/error.h"

namespace sinter::runtime::cuda {
namespace {

std::string kind_of(const ImageCompiler& compiler, int sm) {
  return fmt::format("sm_{}-{}", sm, compiler.form == ImageFormat::Cubin ? "cubin" : "ptx");
}

std::string cure(const ImageCompiler& compiler) { return "install NVRTC: " + compiler.reason; }

/// The compiler whose images the cache folder holds. A driver runs the output of compilers of its own major version and
/// of older ones.
CacheOrigin absent_compiler(const ImageCompiler& compiler, const DriverLibrary& driver, const Target& target) {
  const std::string kind = kind_of(compiler, target.sm);
  std::optional<CacheOrigin> by = cache_origin(kind);
  if (by && !driver.simulated && by->version > driver.version / 1000)
    throw BackendError(
        fmt::format("the kernels in the cache folder are of NVRTC {}, and the driver is of CUDA {}, "
                    "which runs none of a newer version; install a newer driver, or {}",
                    by->version, driver.version / 1000, cure(compiler)));
  if (!by) throw_no_compiler({}, kind, target, cure(compiler));
  return *by;
}

class CudaToolchain final : public Toolchain {
 public:
  /// `absent`: the compiler that filled the cache folder, if nothing can compile here.
  CudaToolchain(ImageCompiler compiler, const Target& target, std::optional<CacheOrigin> absent)
      : compiler_(std::move(compiler)), target_(target), sm_(target.sm), absent_(std::move(absent)) {}

  std::string id() const override { return absent_ ? absent_->id : compiler_.id(sm_); }
  std::string kind() const override { return kind_of(compiler_, sm_); }

  std::optional<CacheOrigin> origin() const override {
    if (absent_) return std::nullopt;
    return CacheOrigin{id(), Dialect::Cuda, compiler_.nvrtc ? compiler_.nvrtc->major : 0, ""};
  }

  bool fall_back() const override { return !absent_ && !compiler_.nvrtc && disable_clang_if_broken(); }

  std::vector<CompileResult> build(std::span<const KernelSource* const> kernels) const override {
    if (absent_) throw_no_compiler(kernels, kind(), target_, cure(compiler_));
    std::vector<CompileResult> results(kernels.size());
    count(counters().compiles, kernels.size());
    // ThreadSanitizer does not see how NVRTC synchronizes its lazy initialization.
    const int threads = kSanitizer == Sanitizer::Thread ? 1 : cpu::helper_threads(target_);
    // The longest first, so that all threads end at about the same time.
    std::vector<size_t> order(kernels.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, std::greater(), [&](size_t k) { return kernels[k]->text.size(); });
    cpu::run_in_parallel(kernels.size(), threads, [&](size_t i) {
      const size_t k = order[i];
      results[k] = compiler_.compile(kernels[k]->name, kernels[k]->text, sm_);
    });
    return results;
  }

  std::shared_ptr<const Program> load(const KernelSource& kernel, Hash128 key, std::string_view object) const override {
    std::string image(object);
    if (!runs_on_sm(image, sm_))
      throw BackendError(fmt::format("kernel {}: what was made of it is not for sm_{}", kernel.name, sm_));
    return std::make_shared<Program>(kernel, key, std::make_unique<Image>(kernel, std::move(image)));
  }

  std::string listing(const KernelSource& kernel, const Program& program) const override {
    if (compiler_.form == ImageFormat::Ptx) return program.image()->bytes();
    if (absent_) return "";
    return compile(*compiler_.nvrtc, kernel.name, kernel.text, sm_, ImageFormat::Ptx).object;
  }

 private:
  const ImageCompiler compiler_;
  const Target target_;
  const int sm_;
  const std::optional<CacheOrigin> absent_;
};

}  // namespace

std::unique_ptr<const Toolchain> toolchain(const Target& target) {
  const DriverLibrary& driver = find_driver();
  if (!driver.table) throw BackendError(fmt::format("kernels for GPUs cannot be compiled: {}", driver.reason));
  ImageCompiler compiler = compiler_of(driver);
  std::optional<CacheOrigin> absent;
  if (!compiler.reason.empty()) absent = absent_compiler(compiler, driver, target);
  return std::make_unique<CudaToolchain>(std::move(compiler), target, std::move(absent));
}

}  // namespace sinter::runtime::cuda
