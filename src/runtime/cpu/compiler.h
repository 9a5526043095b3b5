// C text -> object, by the Clang plugin in this process or by an external compiler.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/kernel_source.h"
#include "runtime/base/target.h"

namespace sinter::runtime::cpu {

/// A compiler with its flags. Safe for use from several threads.
class Compiler {
 public:
  virtual ~Compiler() = default;
  /// Name, version and flags: everything that determines the object for a text and this target. Does not start the
  /// compiler.
  virtual std::string id(const Target& target) const = 0;
  virtual Dialect dialect() const = 0;
  /// True if objects are shared libraries, loaded by dlopen: instrumented code needs the dynamic linker.
  virtual bool makes_libraries() const { return false; }
  /// False if the compiler is missing and known only by the name it left in the cache folder. compile() then throws.
  virtual bool is_available() const { return true; }
  /// Compiles `text`. A compile error is a result. Throws BackendError if the compiler cannot be run at all.
  virtual CompileResult compile(const std::string& text, const Target& target) const = 0;
};

/// The compiler that the environment selects: SINTER_CC, otherwise the Clang plugin if it was built and opens,
/// otherwise cc, otherwise the one that filled the cache folder for this kind of machine. Throws UsageError if
/// SINTER_CC names no program, BackendError if there is no compiler at all.
std::shared_ptr<const Compiler> current_compiler(const Target& machine);

/// Toolchain::kind() for objects compiled for this machine.
std::string kind_of(const Target& machine);

/// The remedy named in messages if there is no compiler.
inline constexpr const char* kInstallCompiler = "install clang or gcc (12 or later)";

/// Reports that a compiler cannot run here after all. Returns whether current_compiler() now gives another one.
bool disable_if_broken(const Compiler& compiler);

}  // namespace sinter::runtime::cpu

namespace sinter::runtime {

/// The dialect of the compiler that the environment selects on this machine. The dialect in `machine` is ignored.
Dialect compiler_dialect(const Target& machine);

}  // namespace sinter::runtime
