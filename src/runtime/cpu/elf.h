// A loader for compiled objects: ELF64, relocatable, x86-64. It supports what kernels need and rejects everything else,
// so a cached kernel runs without a compiler or linker.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/cpu/code.h"

namespace sinter::runtime::cpu {

/// The object reduced to the sections that `entries` (function names) reach through relocations: one kernel's share of
/// a translation unit. Throws BackendError if this is not such an object or lacks an entry.
std::string extract_entries(std::string_view object, std::span<const std::string> entries);

/// Loads what the entries reach. Pages are written first and made executable afterwards, never both at once; they are
/// freed with the result. Binds only memset, memcpy, memmove, memcmp, libm's rounding and fma functions,
/// sinter_lapack() and, in a sanitized build, the sanitizer's. Throws BackendError for an unknown relocation (by name),
/// any other external symbol and writable data.
std::unique_ptr<MachineCode> load_object(std::string_view object, std::span<const std::string> entries);

}  // namespace sinter::runtime::cpu
