// The Clang plugin as a Compiler: found when it is asked about, opened at the first compile.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cpu/compiler.h"

namespace sinter::runtime::cpu {

/// Null if this build has no plugin, no plugin file is to be found, or it did not open before.
const std::shared_ptr<const Compiler>& plugin_compiler();

/// Says, once, where a plugin of this build was searched for and is not: programs run without it, and would not say why
/// they are slow.
void report_missing_plugin();

/// True if `compiler` is the plugin and it cannot be opened here (LLVM's libraries are missing, say): from now on there
/// is none.
bool disable_plugin_if_broken(const Compiler& compiler);

/// The plugin with its LLVM, by versions and files: all that changes what it makes of a text, beside arguments and
/// passes.
std::string plugin_id();

/// Text in the language and for the target that the cc1 arguments say -> assembly, through LLVM's `passes` and its back
/// end at `level` (0 to 3). A text that is wrong is a result; nothing, if there is no plugin or it cannot be opened.
std::optional<CompileResult> compile_to_assembly(const std::string& text, const std::vector<std::string>& arguments,
                                                 const char* passes, int level);

/// Machine code as text, one instruction per line, for DEBUG=7; empty without a plugin.
std::string disassemble(const void* code, size_t size, const Target& target);

}  // namespace sinter::runtime::cpu
