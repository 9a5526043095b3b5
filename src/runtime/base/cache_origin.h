// Which compiler filled the cache folder: what a machine that has none finds the entries by, whose keys hold its name.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "runtime/base/target.h"

namespace sinter::runtime {

struct KernelSource;

/// A compiler, by what it left in the folder.
struct CacheOrigin {
  std::string id;  ///< as Toolchain::id() had it
  Dialect dialect = Dialect::Clang;
  int version = 0;     ///< major version of NVRTC
  std::string target;  ///< Target::key() of the machine that stored last
};

/// The compiler whose objects lie in the cache folder, the last one. `kind` (Toolchain::kind()) says what can run here:
/// objects of another kind of machine are found under no key. Nothing if there is none.
std::optional<CacheOrigin> cache_origin(const std::string& kind);

/// Leaves the name of a compiler (Toolchain::origin(), kind()) of which something is in the folder. Costs reading a
/// small file where it is known.
void record_cache_origin(const std::optional<CacheOrigin>& compiler, const std::string& kind, const Target& target);

/// Throws BackendError: a miss where nothing can compile. It names the kernels (none: all of them, there is nothing for
/// this kind of machine), the folder, both machines, and what to do: `cure`, or a cache of the same kind of machine.
[[noreturn]] void throw_no_compiler(std::span<const KernelSource* const> kernels, const std::string& kind,
                                    const Target& target, const std::string& cure);

}  // namespace sinter::runtime
