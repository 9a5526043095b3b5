// Our own loader for the objects that compilers write: ELF64, relocatable, x86-64. It knows what kernels need and
// refuses everything else, so that running a cached kernel takes no compiler and no linker.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/cpu/code.h"

namespace sinter::runtime::cpu {

/// The object with only those sections that `entries` (names of functions) reach through relocations: one kernel's
/// share of a translation unit. Throws BackendError for what is no such object or lacks an entry.
std::string extract_entries(std::string_view object, std::span<const std::string> entries);

/// Places what the entries reach in memory: written first, then executable, never both; freed with the result. Binds
/// memset, memcpy, memmove, memcmp and the rounding and fma functions of libm, in a sanitized build the sanitizer's,
/// and nothing else. Throws BackendError for anything that it does not know: a relocation (by name), an outside symbol,
/// writable data.
std::unique_ptr<MachineCode> load_object(std::string_view object, std::span<const std::string> entries);

}  // namespace sinter::runtime::cpu
