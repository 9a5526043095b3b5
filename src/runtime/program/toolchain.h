// From kernel text to programs: the common interface of CPU and GPU compilers. It lets one function find programs in
// memory, in the cache folder or by compiling (program.h).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/cache_origin.h"
#include "runtime/base/hash.h"
#include "runtime/base/kernel_source.h"
#include "runtime/base/target.h"

namespace sinter::runtime {

class Program;

/// A compiler and the loader of its objects, for one Target. Safe from several threads.
class Toolchain {
 public:
  virtual ~Toolchain() = default;

  /// Name, version, flags and architecture: everything that determines the object of a text. Does not start the
  /// compiler.
  virtual std::string id() const = 0;

  /// What the Target can run: the instruction set and the object format. Machines of the same kind can share a cache
  /// folder.
  virtual std::string kind() const = 0;

  /// The record left in the cache folder for machines of the same kind without a compiler. Nullopt if this compiler
  /// itself is only known from such a record.
  virtual std::optional<CacheOrigin> origin() const = 0;

  /// True if the compiler turned out not to run here and another one took its place. The caller must then start over.
  /// Throws DialectMismatch if the other compiler uses another dialect.
  virtual bool fall_back() const { return false; }

  /// Compiles in parallel. One result per kernel, in order; one that fails does not affect the others. Throws
  /// BackendError if the compiler cannot run or is known only by name.
  virtual std::vector<CompileResult> build(std::span<const KernelSource* const> kernels) const = 0;

  /// Throws BackendError for an object that is damaged or made for something else, and OutOfMemory.
  virtual std::shared_ptr<const Program> load(const KernelSource& kernel, Hash128 key,
                                              std::string_view object) const = 0;

  /// Disassembly of a program, for DEBUG=7; empty if unavailable.
  virtual std::string listing(const KernelSource& kernel, const Program& program) const = 0;
};

namespace cpu {
/// The compiler that the environment selects. If there is none, the name of the one that filled the cache folder.
/// Throws BackendError if there is neither.
std::unique_ptr<const Toolchain> toolchain(const Target& target);
}  // namespace cpu

namespace cuda {
/// NVRTC, producing CUBINs, or PTX for simulated devices. For these, Clang is used if there is no NVRTC. Without a
/// compiler, the name of the one that filled the cache folder. Throws BackendError, saying where NVRTC was searched
/// for, if there is neither.
std::unique_ptr<const Toolchain> toolchain(const Target& target);
}  // namespace cuda

/// The toolchain for the machine that the Target describes.
inline std::unique_ptr<const Toolchain> toolchain_for(const Target& target) {
  return target.cuda() ? cuda::toolchain(target) : cpu::toolchain(target);
}

}  // namespace sinter::runtime
