// Which compiler: SINTER_CC, the Clang plugin, or cc, in this order.
#include "runtime/cpu/compiler.h"

#include <fmt/core.h>

#include "runtime/cpu/compile_external.h"
#include "runtime/cpu/plugin.h"
#include "runtime/env.h"
#include "sinter/error.h"

namespace sinter::runtime {
namespace cpu {

std::shared_ptr<const Compiler> current_compiler() {
  if (const std::string& command = env().cc; !command.empty()) {
    auto chosen = external_compiler(command);
    if (!chosen)
      throw UsageError(
          fmt::format("environment: SINTER_CC=\"{}\": no such program; give a C compiler's name or path, then "
                      "its flags, or unset it",
                      command));
    return chosen;
  }
  if (auto plugin = plugin_compiler()) return plugin;
  report_missing_plugin();
  if (auto cc = external_compiler("cc")) return cc;
  throw BackendError(
      "no C compiler for kernels: the Clang plugin is not here and there is no cc; install clang or gcc (12 or later)");
}

bool give_up(const Compiler& compiler) { return env().cc.empty() && give_up_plugin(compiler); }

}  // namespace cpu

Dialect compiler_dialect() {
  if (env().cc.empty() && cpu::plugin_compiler()) return Dialect::Clang;
  // Every plan asks, and looking for a program asks the file system: once per environment, then.
  thread_local const Env* of = nullptr;
  thread_local Dialect dialect{};
  if (of != &env()) {
    dialect = cpu::current_compiler()->dialect();
    of = &env();
  }
  return dialect;
}

}  // namespace sinter::runtime
