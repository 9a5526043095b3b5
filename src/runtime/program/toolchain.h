// From the text of kernels to programs: what compilers of CPUs and GPUs have in common, so that one function finds
// programs in this process's memory, in the cache folder or by compiling (program.h).
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

/// A compiler with what loads its objects, for one Target. Safe from several threads.
class Toolchain {
 public:
  virtual ~Toolchain() = default;

  /// Name, version, flags and architecture: all that changes what a text becomes. Costs no start of the compiler.
  virtual std::string id() const = 0;

  /// What can run where the Target is: the instruction set and the form of objects. Machines of one kind can share a
  /// cache folder.
  virtual std::string kind() const = 0;

  /// What the compiler leaves in the cache folder, for machines of the kind that have none; nothing if it has only been
  /// found there itself.
  virtual std::optional<CacheOrigin> origin() const = 0;

  /// True if the compiler turns out not to run here, and another one took its place: all begins anew. Throws
  /// DialectMismatch if that one reads another language.
  virtual bool fall_back() const { return false; }

  /// A result per kernel, in order, in parallel; one that fails does not harm the others. Throws BackendError if the
  /// compiler cannot run, or is known by name alone.
  virtual std::vector<CompileResult> build(std::span<const KernelSource* const> kernels) const = 0;

  /// Throws BackendError for an object that is damaged or made for something else; OutOfMemory.
  virtual std::shared_ptr<const Program> load(const KernelSource& kernel, Hash128 key,
                                              std::string_view object) const = 0;

  /// The instructions of a program as text, for DEBUG=7; empty where nothing can tell.
  virtual std::string listing(const KernelSource& kernel, const Program& program) const = 0;
};

namespace cpu {
/// The compiler that the environment asks for; where there is none, the name of the one that filled the cache folder.
/// Throws BackendError if there is neither.
std::unique_ptr<const Toolchain> toolchain(const Target& target);
}  // namespace cpu

namespace cuda {
/// NVRTC, to CUBINs, or to PTX for simulated devices; for these Clang where there is no NVRTC. Where nothing compiles,
/// the name of what filled the cache folder. Throws BackendError that says where NVRTC was looked for if there is none.
std::unique_ptr<const Toolchain> toolchain(const Target& target);
}  // namespace cuda

/// The one for the machine that the Target describes.
inline std::unique_ptr<const Toolchain> toolchain_for(const Target& target) {
  return target.cuda() ? cuda::toolchain(target) : cpu::toolchain(target);
}

}  // namespace sinter::runtime
