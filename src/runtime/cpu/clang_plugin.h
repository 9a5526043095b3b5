// The Clang plugin as a Compiler: located on first use, opened at the first compilation.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cpu/compiler.h"

namespace sinter::runtime::cpu {

/// Null if this build has no plugin, no plugin file is found, or opening it has failed.
const std::shared_ptr<const Compiler>& plugin_compiler();

/// Logs once where the plugin of this build was searched for without success. Programs run without it, and would
/// otherwise not say why they are slow.
void report_missing_plugin();

/// True if `compiler` is the plugin and it cannot be opened here, for example because LLVM's libraries are missing.
/// From then on there is no plugin.
bool disable_plugin_if_broken(const Compiler& compiler);

/// Versions and file stamps of the plugin and its LLVM: everything that determines its output except arguments and
/// passes.
std::string plugin_id();

/// Compiles `text` to assembly. The cc1 `arguments` give language and target; `passes` and `level` (0 to 3) select
/// LLVM's passes and back-end level. A compile error is a result. Nullopt if there is no plugin or it cannot be opened.
std::optional<CompileResult> compile_to_assembly(const std::string& text, const std::vector<std::string>& arguments,
                                                 const char* passes, int level);

/// Disassembles, one instruction per line, for DEBUG=7; empty without a plugin.
std::string disassemble(const void* code, size_t size, const Target& target);

}  // namespace sinter::runtime::cpu
