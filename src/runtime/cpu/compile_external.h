// Compilers that run as a separate program: SINTER_CC, and cc if there is no plugin.
#pragma once

#include <memory>
#include <string>

#include "runtime/cpu/code.h"
#include "runtime/cpu/compiler.h"

namespace sinter::runtime::cpu {

/// `command` is a program's name or path followed by flags, separated by blanks. With -fsanitize= among the flags, its
/// objects are shared libraries. Null if there is no such program.
std::shared_ptr<const Compiler> external_compiler(const std::string& command);

/// Loads a shared library from its bytes, for instrumented kernels. Throws BackendError if the dynamic linker rejects
/// it.
std::unique_ptr<MachineCode> load_library(const std::string& bytes);

}  // namespace sinter::runtime::cpu
