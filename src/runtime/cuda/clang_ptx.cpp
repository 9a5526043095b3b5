#include "runtime/cuda/clang_ptx.h"

#include <fmt/core.h>

#include <vector>

#include "runtime/base/hash.h"
#include "runtime/cpu/clang_plugin.h"
#include "runtime/cuda/clang_prelude.h"
#include "sinter/error.h"

namespace sinter::runtime::cuda {
namespace {

// No pass may move a load to a place where the text has none: the simulator would report a read of bytes that were
// never written.
constexpr const char* kPasses =
    "always-inline,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,early-cse,instcombine<no-verify-"
    "fixpoint>)";
constexpr int kLevel = 2;

// Denormals are kept, and division and square root follow IEEE: Clang's defaults for CUDA.
std::vector<std::string> arguments(int sm) {
  // clang-format off
  return {"-triple", "nvptx64-nvidia-cuda", "-target-cpu", fmt::format("sm_{}", sm),
          "-target-feature", sm >= 90 ? "+ptx80" : "+ptx75",
          "-S", "-x", "cuda", "-fcuda-is-device", "-std=c++17", "-O2", "-w",
          "-fno-builtin", "-nostdsysteminc", "-nobuiltininc", "-fdeclspec",
          "-ffp-contract=off", "-fwrapv", "-fno-threadsafe-statics",
          "-debug-info-kind=line-directives-only", "-dwarf-version=2", "-debugger-tuning=gdb"};
  // clang-format on
}

}  // namespace

bool has_clang() { return cpu::plugin_compiler() != nullptr; }

bool disable_clang_if_broken() {
  const auto& plugin = cpu::plugin_compiler();
  return !plugin || cpu::disable_plugin_if_broken(*plugin);
}

std::string clang_id(int sm) {
  std::string id = fmt::format("{}, passes {}, level {}", cpu::plugin_id(), kPasses, kLevel);
  for (const std::string& word : arguments(sm)) id += " " + word;
  return fmt::format("{}, prelude {}", id, to_hex(hash_bytes(kPrelude)));
}

CompileResult compile_ptx(const std::string& text, int sm) {
  const std::string whole = fmt::format("{}\n# 1 \"kernels.cu\"\n{}", kPrelude, text);
  if (auto result = cpu::compile_to_assembly(whole, arguments(sm), kPasses, kLevel)) return *std::move(result);
  throw BackendError(
      "kernels for the simulated GPU cannot be compiled: there is no NVRTC, and this build has no Clang plugin or it "
      "does not open. Install NVRTC (pip install nvidia-cuda-nvrtc-cu12), or build with SINTER_CLANG=ON");
}

}  // namespace sinter::runtime::cuda
