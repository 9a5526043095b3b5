// Selects the compiler, in this order: SINTER_CC, the Clang plugin, cc, the one recorded in the cache folder.
#include "runtime/cpu/compiler.h"

#include <fmt/core.h>

#include <utility>

#include "runtime/base/cache_origin.h"
#include "runtime/base/env.h"
#include "runtime/base/sanitizer.h"
#include "runtime/cpu/clang_plugin.h"
#include "runtime/cpu/compile_external.h"
#include "sinter/error.h"

namespace sinter::runtime {
namespace cpu {
namespace {

/// The compiler that filled the cache folder on another machine and is missing here. Its id finds the cached objects;
/// compile() throws.
class AbsentCompiler final : public Compiler {
 public:
  explicit AbsentCompiler(CacheOrigin by) : by_(std::move(by)) {}
  std::string id(const Target&) const override { return by_.id; }
  Dialect dialect() const override { return by_.dialect; }
  bool is_available() const override { return false; }
  CompileResult compile(const std::string&, const Target& target) const override {
    throw_no_compiler({}, kind_of(target), target, kInstallCompiler);
  }

 private:
  const CacheOrigin by_;
};

}  // namespace

std::string kind_of(const Target& machine) {
  constexpr const char* kBuilds[] = {"", "+asan", "+tsan"};
  return machine.isa + kBuilds[static_cast<size_t>(kSanitizer)];
}

std::shared_ptr<const Compiler> current_compiler(const Target& machine) {
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
  if (auto cc = external_compiler("cc")) {
    report_missing_plugin();
    return cc;
  }
  if (auto by = cache_origin(kind_of(machine))) return std::make_shared<AbsentCompiler>(*std::move(by));
  throw_no_compiler({}, kind_of(machine), machine, kInstallCompiler);
}

bool disable_if_broken(const Compiler& compiler) { return env().cc.empty() && disable_plugin_if_broken(compiler); }

}  // namespace cpu

Dialect compiler_dialect(const Target& machine) {
  if (env().cc.empty() && cpu::plugin_compiler()) return Dialect::Clang;
  // Called for every plan, and looking for a program touches the file system, so the result is kept per environment.
  thread_local const Env* of = nullptr;
  thread_local Dialect dialect{};
  if (of != &env()) {
    dialect = cpu::current_compiler(machine)->dialect();
    of = &env();
  }
  return dialect;
}

}  // namespace sinter::runtime
