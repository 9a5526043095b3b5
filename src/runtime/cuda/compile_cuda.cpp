// Compiler options, and one compilation through NVRTC.
#include "runtime/cuda/compile_cuda.h"

#include <fmt/core.h>

#include <vector>

#include "runtime/base/process_exit.h"
#include "runtime/cuda/clang_ptx.h"
#include "sinter/error.h"

namespace sinter::runtime::cuda {
namespace {

constexpr int kFirstWithVariants = 90;  ///< from sm_90a on: architecture-specific features
constexpr int kFirstWithMinimal = 13;   ///< NVRTC that can leave out what no kernel uses

std::string name_of(const NvrtcLibrary& nvrtc) {
  return fmt::format("NVRTC {}.{} ({})", nvrtc.major, nvrtc.minor, nvrtc.library);
}

/// Floating point follows SEMANTICS F1: multiplications and additions are not contracted unless the text says so.
/// Division, square roots and denormals follow IEEE, which is NVRTC's default.
std::vector<std::string> options(const NvrtcLibrary& nvrtc, int sm, ImageFormat form) {
  std::vector<std::string> out = {fmt::format("--gpu-architecture={}", architecture(nvrtc, sm, form)), "--std=c++17",
                                  "--fmad=false", "--disable-warnings"};
  // Without textures and the CUDA runtime's types, which take a quarter of the time of a small kernel.
  if (nvrtc.major >= kFirstWithMinimal) out.emplace_back("--minimal");
  // A simulated device reports faults by source line.
  out.emplace_back(form == ImageFormat::Cubin ? "--ptxas-options=-v" : "--generate-line-info");
  return out;
}

class NvrtcCompilation {
 public:
  NvrtcCompilation(const NvrtcLibrary& nvrtc, const std::string& name, const std::string& text)
      : nvrtc_(nvrtc), table_(*nvrtc.table) {
    check(table_.create(&program_, text.c_str(), name.c_str(), 0, nullptr, nullptr));
  }
  ~NvrtcCompilation() { table_.destroy(&program_); }
  NvrtcCompilation(const NvrtcCompilation&) = delete;
  NvrtcCompilation& operator=(const NvrtcCompilation&) = delete;

  CompileResult compile(const std::vector<std::string>& words, ImageFormat form) {
    constexpr int kTextIsWrong = 6, kOptionIsWrong = 5;
    std::vector<const char*> pointers;
    for (const std::string& word : words) pointers.push_back(word.c_str());
    const int code = table_.compile(program_, static_cast<int>(pointers.size()), pointers.data());
    if (code != kTextIsWrong && code != kOptionIsWrong) check(code);
    CompileResult result{code == 0, "", text(table_.log_size, table_.log)};
    if (result.log.empty() && !result.ok) result.log = table_.error_string(code);
    if (result.ok && form == ImageFormat::Cubin) result.object = bytes(table_.cubin_size, table_.cubin);
    if (result.ok && form == ImageFormat::Ptx) result.object = text(table_.ptx_size, table_.ptx);
    return result;
  }

 private:
  void check(int code) const {
    if (code) throw BackendError(fmt::format("{} failed: {}", name_of(nvrtc_), table_.error_string(code)));
  }
  std::string bytes(int (*size_of)(NvrtcProgram, size_t*), int (*get)(NvrtcProgram, char*)) const {
    size_t size = 0;
    check(size_of(program_, &size));
    std::string out(size, '\0');
    if (size) check(get(program_, out.data()));
    return out;
  }
  /// Without the terminating zero.
  std::string text(int (*size_of)(NvrtcProgram, size_t*), int (*get)(NvrtcProgram, char*)) const {
    const std::string all = bytes(size_of, get);
    return all.substr(0, all.find('\0'));
  }

  const NvrtcLibrary& nvrtc_;
  const NvrtcApi& table_;
  NvrtcProgram program_ = nullptr;
};

}  // namespace

std::string architecture(const NvrtcLibrary& nvrtc, int sm, ImageFormat form) {
  int best = 0;
  std::string known;
  for (const int arch : nvrtc.archs) {
    if (arch <= sm && arch / 10 == sm / 10) best = arch;
    known += fmt::format(" sm_{}", arch);
  }
  if (!best)
    throw BackendError(fmt::format("{} does not compile for sm_{}, only for{}; install {}", name_of(nvrtc), sm, known,
                                   sm < 75 ? "one of CUDA 12" : "a newer one"));
  return fmt::format("{}_{}{}", form == ImageFormat::Cubin ? "sm" : "compute", best,
                     best == sm && sm >= kFirstWithVariants ? "a" : "");
}

std::string compiler_id(const NvrtcLibrary& nvrtc, int sm, ImageFormat form) {
  std::string text = fmt::format("nvrtc {}.{}", nvrtc.major, nvrtc.minor);
  for (const std::string& option : options(nvrtc, sm, form)) text += " " + option;
  return text;
}

CompileResult compile(const NvrtcLibrary& nvrtc, const std::string& name, const std::string& text, int sm,
                      ImageFormat form) {
  const ProcessExitGuard work;
  if (!work) throw BackendError(fmt::format("kernel {} is not compiled: the process ends, and NVRTC with it", name));
  return NvrtcCompilation(nvrtc, name + ".cu", text).compile(options(nvrtc, sm, form), form);
}

ImageCompiler compiler_of(const DriverLibrary& driver) {
  // The simulator reads PTX of any version.
  const NvrtcLibrary& nvrtc = driver.simulated ? find_nvrtc() : find_nvrtc(driver.version / 1000);
  const ImageFormat form = driver.simulated ? ImageFormat::Ptx : ImageFormat::Cubin;
  if (nvrtc.table) return {&nvrtc, form, name_of(nvrtc), ""};
  if (driver.simulated && has_clang()) return {nullptr, form, "Clang", ""};
  return {nullptr, form, "", nvrtc.reason};
}

std::string ImageCompiler::id(int sm) const { return nvrtc ? compiler_id(*nvrtc, sm, form) : clang_id(sm); }

CompileResult ImageCompiler::compile(const std::string& kernel, const std::string& text, int sm) const {
  return nvrtc ? cuda::compile(*nvrtc, kernel, text, sm, form) : compile_ptx(text, sm);
}

}  // namespace sinter::runtime::cuda
