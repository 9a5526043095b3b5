// Which compiler filled the cache folder. Cache keys contain the compiler's name, so a machine without a compiler needs
// this record to find the entries.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "runtime/base/target.h"

namespace sinter::runtime {

struct KernelSource;

/// A compiler as recorded in the cache folder.
struct CacheOrigin {
  std::string id;  ///< as returned by Toolchain::id()
  Dialect dialect = Dialect::Clang;
  int version = 0;     ///< NVRTC major version
  std::string target;  ///< Target::key() of the last machine that stored an entry
};

/// The last compiler to store objects of this `kind` (Toolchain::kind()) in the cache folder. Objects of another kind
/// of machine have other keys and are never found. Returns nullopt if there is none.
std::optional<CacheOrigin> cache_origin(const std::string& kind);

/// Records that `compiler` (Toolchain::origin(), kind()) has objects in the folder. If the record is already there,
/// this only reads a small file.
void record_cache_origin(const std::optional<CacheOrigin>& compiler, const std::string& kind, const Target& target);

/// Throws BackendError for a cache miss on a machine without a compiler. The message names the kernels, the folder,
/// both machines and the remedy: `cure`, or a cache from the same kind of machine. If `kernels` is empty, the folder
/// has nothing for this kind of machine.
[[noreturn]] void throw_no_compiler(std::span<const KernelSource* const> kernels, const std::string& kind,
                                    const Target& target, const std::string& cure);

}  // namespace sinter::runtime
