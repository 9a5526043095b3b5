// Compilers that are started as a program: SINTER_CC, and cc where there is no plugin.
#pragma once

#include <memory>
#include <string>

#include "runtime/cpu/code.h"
#include "runtime/cpu/compiler.h"

namespace sinter::runtime::cpu {

/// `command` is a program's name or path, then flags, parted by blanks. With -fsanitize= among the flags its objects
/// are shared libraries. Null if there is no such program.
std::shared_ptr<const Compiler> external_compiler(const std::string& command);

/// A shared library from its bytes, for instrumented kernels. Throws BackendError if the dynamic linker refuses it.
std::unique_ptr<MachineCode> load_library(const std::string& bytes);

}  // namespace sinter::runtime::cpu
