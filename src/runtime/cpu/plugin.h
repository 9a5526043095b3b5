// The Clang plugin as a Compiler: found when it is asked about, opened at the first compile.
#pragma once

#include <memory>
#include <string>

#include "runtime/cpu/compiler.h"

namespace sinter::runtime::cpu {

/// Null if this build has no plugin, no plugin file is to be found, or it did not open before.
std::shared_ptr<const Compiler> plugin_compiler();

/// True if `compiler` is the plugin and it cannot be opened here (LLVM's libraries are missing, say): from now on there
/// is none.
bool give_up_plugin(const Compiler& compiler);

/// Machine code as text, one instruction per line, for DEBUG=7; empty without a plugin.
std::string disassemble(const void* code, size_t size, const Target& target);

}  // namespace sinter::runtime::cpu
