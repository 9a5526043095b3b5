// Kernels that can be called, and the way there: this process's memory, the cache folder, the compiler.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/cpu/code.h"
#include "runtime/hash.h"
#include "runtime/target.h"
#include "sinter/error.h"

namespace sinter::runtime {
namespace cuda {
class Image;
}

/// One kernel as text. For the CPU: freestanding, well-defined C that both Clang and GCC 12 take. Several share a
/// translation unit, so everything it defines at file scope should begin with `name` (typedefs, which may be repeated,
/// excepted); texts that collide are compiled one by one, which is slower and nothing else. For a GPU: CUDA C++ without
/// headers,
///   extern "C" __global__ void NAME(unsigned* error, T0* p0, ..., [char* scratch,] long long v0, ...)
/// with all pointers first (the error word, the Params by slot, scratch memory if it needs any) and then all numbers
/// (symbolic sizes, bits of the arguments), run by one block of `threads` threads per point.
struct KernelSource {
  std::string name;  ///< the function it defines; a part of it says the content, so that names do not collide
  std::string text;
  bool has_finish = false;           ///< it defines NAME_finish too, which runs after the join
  std::vector<int64_t> blocks = {};  ///< values of each outer range that one point covers; those that are missing: 1
  int64_t scratch = 0;  ///< bytes that each thread needs, 64-byte aligned, behind the last of bufs; on a GPU each block
  int threads = 0;      ///< of a block on a GPU; 0: a kernel of the CPU
  int finish_threads = 0;     ///< of a block of its finish phase,
  int64_t finish_points = 1;  ///< and how many of them there are
  int64_t shared = 0;         ///< bytes of shared memory that a launch must ask for, beside what the text declares
};

/// A kernel in memory, immutable and free to be called from any thread.
class Program {
 public:
  /// bufs[0] is the error word; begin..end counts points: blocks of the outer ranges, flattened. Returns error bits.
  using Entry = int (*)(void* const* bufs, const int64_t* vars, int64_t begin, int64_t end);

  /// Throws BackendError if the code lacks an entry.
  Program(const KernelSource& kernel, Hash128 key, std::unique_ptr<cpu::Code> code);
  /// A kernel for GPUs, which each device loads when it first runs there.
  Program(const KernelSource& kernel, Hash128 key, std::unique_ptr<cuda::Image> image);
  ~Program();

  const std::string& name() const { return name_; }
  /// Points of a launch over outer ranges of these sizes.
  int64_t points(std::span<const int64_t> outer) const;
  int64_t scratch() const { return scratch_; }
  /// What GPUs load; null for a kernel of the CPU. The rest is about those.
  const cuda::Image* image() const { return image_.get(); }
  /// Hash of content, compiler, flags and ISA.
  const Hash128& key() const { return key_; }
  Entry entry() const { return entry_; }
  /// Null if there is no finish phase.
  Entry finish() const { return finish_; }
  const cpu::Code& code() const { return *code_; }

 private:
  std::string name_;
  Hash128 key_;
  std::unique_ptr<cpu::Code> code_;
  std::unique_ptr<cuda::Image> image_;
  Entry entry_ = nullptr, finish_ = nullptr;
  std::vector<int64_t> blocks_;
  int64_t scratch_ = 0;
};

/// The compiler that a Target was made for turned out not to run, and the one that is left speaks another dialect:
/// kernels must be written anew, for what host_target() is now.
class DialectChanged : public BackendError {
 public:
  using BackendError::BackendError;
};

/// A program per kernel, in order. What neither memory nor the cache folder holds is compiled, in parallel. At DEBUG=4
/// every source is logged, wherever its program came from. Throws CompileError with the source's path and the
/// compiler's log; the kernels that did compile are kept; DialectChanged before anything is compiled. Safe from several
/// threads; takes milliseconds, so hold no graph lock.
std::vector<std::shared_ptr<const Program>> compile(std::span<const KernelSource> kernels, const Target& target);

class Toolchain;
/// The programs of these keys, which compile() made of such kernels once, here or in another process: from memory or
/// the cache folder. No texts are needed. Empty if one of them is in neither.
std::vector<std::shared_ptr<const Program>> find_programs(std::span<const KernelSource> kernels,
                                                          std::span<const Hash128> keys, const Toolchain& tools);

/// Programs that this process keeps for the next plan.
size_t cached_programs();

/// Forgets them, for tests; programs in use stay valid.
void forget_programs();

}  // namespace sinter::runtime
