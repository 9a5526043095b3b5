// Callable kernels, and how to get them: from this process's memory, the cache folder or the compiler.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/hash.h"
#include "runtime/base/kernel_source.h"
#include "runtime/base/target.h"
#include "runtime/cpu/code.h"
#include "sinter/error.h"

namespace sinter::runtime {
namespace cuda {
class Image;
}

/// A loaded kernel. Immutable; any thread may call it.
class Program {
 public:
  /// bufs[0] is the error word. begin..end counts tasks: blocks of the outer ranges, flattened. Returns error bits.
  using EntryPoint = int (*)(void* const* bufs, const int64_t* vars, int64_t begin, int64_t end);

  /// Throws BackendError if the code lacks an entry.
  Program(const KernelSource& kernel, Hash128 key, std::unique_ptr<cpu::MachineCode> code);
  /// A GPU kernel. Each device loads it on first use.
  Program(const KernelSource& kernel, Hash128 key, std::unique_ptr<cuda::Image> image);
  ~Program();

  const std::string& name() const { return name_; }
  /// Number of tasks in a launch over outer ranges of these sizes.
  int64_t task_count(std::span<const int64_t> outer) const;
  int64_t scratch() const { return scratch_; }
  /// The GPU image; null for a CPU kernel. The accessors below are for CPU kernels.
  const cuda::Image* image() const { return image_.get(); }
  /// Hash of content, compiler, flags and ISA.
  const Hash128& key() const { return key_; }
  EntryPoint entry() const { return entry_; }
  /// Null if there is no epilogue.
  EntryPoint epilogue() const { return epilogue_; }
  const cpu::MachineCode& code() const { return *code_; }

 private:
  std::string name_;
  Hash128 key_;
  std::unique_ptr<cpu::MachineCode> code_;
  std::unique_ptr<cuda::Image> image_;
  EntryPoint entry_ = nullptr, epilogue_ = nullptr;
  std::vector<int64_t> blocks_;
  int64_t scratch_ = 0;
};

/// One program per kernel, in order. Kernels found neither in memory nor in the cache folder are compiled in parallel.
/// At DEBUG=4 every source is logged, wherever its program came from. Throws CompileError with the source's path and
/// the compiler's log; kernels that did compile are kept. Throws DialectMismatch before anything is compiled. Safe from
/// several threads. Takes milliseconds, so do not hold the graph's lock.
std::vector<std::shared_ptr<const Program>> compile(std::span<const KernelSource> kernels, const Target& target);

class Toolchain;
/// Programs by key, from memory or the cache folder, if compile() has made all of them before, in this or another
/// process. The kernels' texts are not needed. Empty if any program is missing.
std::vector<std::shared_ptr<const Program>> find_programs(std::span<const KernelSource> kernels,
                                                          std::span<const Hash128> keys, const Toolchain& tools);

/// Number of programs that this process keeps for later plans.
size_t cached_program_count();

/// Drops the kept programs, for tests. Programs in use stay valid.
void forget_programs();

}  // namespace sinter::runtime
