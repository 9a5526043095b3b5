// C text in, object out: the Clang plugin inside the process, or a compiler that is started.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/kernel_source.h"
#include "runtime/base/target.h"

namespace sinter::runtime::cpu {

/// A compiler with its flags. Safe to use from several threads.
class Compiler {
 public:
  virtual ~Compiler() = default;
  /// Name, version and flags: all that changes the object of a text for this target. Costs no start of the compiler.
  virtual std::string id(const Target& target) const = 0;
  virtual Dialect dialect() const = 0;
  /// True if objects are shared libraries, for dlopen: instrumented code needs the dynamic linker.
  virtual bool makes_libraries() const { return false; }
  /// False if it is not here, and known by the name alone that it left in the cache folder: compile() throws then.
  virtual bool is_available() const { return true; }
  /// Translates `text`. A source that is wrong is a result; throws BackendError when the compiler cannot be run at all.
  virtual CompileResult compile(const std::string& text, const Target& target) const = 0;
};

/// The compiler that the environment asks for: SINTER_CC, or else the Clang plugin where it was built and opens, or
/// else cc; or else the one that filled the cache folder for this kind of machine. Throws UsageError if SINTER_CC names
/// no program, BackendError if there is no compiler at all.
std::shared_ptr<const Compiler> current_compiler(const Target& machine);

/// Toolchain::kind() of what compilers make for it.
std::string kind_of(const Target& machine);

/// What to do where there is no compiler.
inline constexpr const char* kInstallCompiler = "install clang or gcc (12 or later)";

/// Says that a compiler cannot run here after all; the answer says whether current_compiler() now gives another one.
bool disable_if_broken(const Compiler& compiler);

}  // namespace sinter::runtime::cpu

namespace sinter::runtime {

/// The dialect of the compiler that the environment asks for on this machine, whose own dialect does not count.
Dialect compiler_dialect(const Target& machine);

}  // namespace sinter::runtime
