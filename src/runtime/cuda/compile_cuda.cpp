// Options, and the calls of one compilation.
#include "runtime/cuda/compile_cuda.h"

#include <fmt/core.h>

#include <vector>

#include "cudasim/clang.h"
#include "runtime/base/process_exit.h"
#include "sinter/error.h"

namespace sinter::runtime::cuda {
namespace {

constexpr int kFirstWithVariants = 90;  ///< sm_90a and later: features that only this very architecture has

std::string name_of(const FoundNvrtc& nvrtc) {
  return fmt::format("NVRTC {}.{} ({})", nvrtc.major, nvrtc.minor, nvrtc.library);
}

/// Floating point as SEMANTICS F1 says: no multiplication and addition become one unless the text says so, and
/// division, roots and subnormal numbers are those of IEEE, which is NVRTC's default.
std::vector<std::string> options(const FoundNvrtc& nvrtc, int sm, Form form) {
  std::vector<std::string> out = {"--gpu-architecture=" + architecture(nvrtc, sm, form), "--std=c++17", "--fmad=false",
                                  "--disable-warnings"};
  // A simulated device tells faults by the lines of the text.
  out.push_back(form == Form::Cubin ? "--ptxas-options=-v" : "--generate-line-info");
  return out;
}

class NvrtcRun {
 public:
  NvrtcRun(const FoundNvrtc& nvrtc, const std::string& name, const std::string& text)
      : nvrtc_(nvrtc), table_(*nvrtc.table) {
    check(table_.create(&program_, text.c_str(), name.c_str(), 0, nullptr, nullptr));
  }
  ~NvrtcRun() { table_.destroy(&program_); }
  NvrtcRun(const NvrtcRun&) = delete;
  NvrtcRun& operator=(const NvrtcRun&) = delete;

  CompileResult compile(const std::vector<std::string>& words, Form form) {
    constexpr int kTextIsWrong = 6, kOptionIsWrong = 5;
    std::vector<const char*> pointers;
    for (const std::string& word : words) pointers.push_back(word.c_str());
    const int code = table_.compile(program_, static_cast<int>(pointers.size()), pointers.data());
    if (code != kTextIsWrong && code != kOptionIsWrong) check(code);
    CompileResult result{code == 0, "", text(table_.log_size, table_.log)};
    if (result.log.empty() && !result.ok) result.log = table_.error_string(code);
    if (result.ok && form == Form::Cubin) result.object = bytes(table_.cubin_size, table_.cubin);
    if (result.ok && form == Form::Ptx) result.object = text(table_.ptx_size, table_.ptx);
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
  /// Without the zero at its end.
  std::string text(int (*size_of)(NvrtcProgram, size_t*), int (*get)(NvrtcProgram, char*)) const {
    const std::string all = bytes(size_of, get);
    return all.substr(0, all.find('\0'));
  }

  const FoundNvrtc& nvrtc_;
  const Nvrtc& table_;
  NvrtcProgram program_ = nullptr;
};

}  // namespace

std::string architecture(const FoundNvrtc& nvrtc, int sm, Form form) {
  int best = 0;
  std::string known;
  for (const int arch : nvrtc.archs) {
    if (arch <= sm && arch / 10 == sm / 10) best = arch;
    known += fmt::format(" sm_{}", arch);
  }
  if (!best)
    throw BackendError(fmt::format("{} does not compile for sm_{}, only for{}; install {}", name_of(nvrtc), sm, known,
                                   sm < 75 ? "one of CUDA 12" : "a newer one"));
  return fmt::format("{}_{}{}", form == Form::Cubin ? "sm" : "compute", best,
                     best == sm && sm >= kFirstWithVariants ? "a" : "");
}

std::string compiler_id(const FoundNvrtc& nvrtc, int sm, Form form) {
  std::string text = fmt::format("nvrtc {}.{}", nvrtc.major, nvrtc.minor);
  for (const std::string& option : options(nvrtc, sm, form)) text += " " + option;
  return text;
}

CompileResult compile(const FoundNvrtc& nvrtc, const std::string& name, const std::string& text, int sm, Form form) {
  const CompilerWork work;
  if (!work) throw BackendError(fmt::format("kernel {} is not compiled: the process ends, and NVRTC with it", name));
  return NvrtcRun(nvrtc, name + ".cu", text).compile(options(nvrtc, sm, form), form);
}

ImageCompiler compiler_of(const FoundDriver& driver) {
  // What simulates devices reads the PTX of any version.
  const FoundNvrtc& nvrtc = driver.simulated ? find_nvrtc() : find_nvrtc(driver.version / 1000);
  const Form form = driver.simulated ? Form::Ptx : Form::Cubin;
  if (nvrtc.table) return {&nvrtc, form, name_of(nvrtc), ""};
  if (driver.simulated && sim::has_clang()) return {nullptr, form, "Clang", ""};
  return {nullptr, form, "", nvrtc.reason};
}

std::string ImageCompiler::id(int sm) const { return nvrtc ? compiler_id(*nvrtc, sm, form) : sim::clang_id(sm); }

CompileResult ImageCompiler::compile(const std::string& kernel, const std::string& text, int sm) const {
  return nvrtc ? cuda::compile(*nvrtc, kernel, text, sm, form) : sim::compile_ptx_result(text, sm);
}

}  // namespace sinter::runtime::cuda
