// Kernels that can be called, and the way there: this process's memory, the cache folder, the compiler.
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

/// A kernel in memory, immutable and free to be called from any thread.
class Program {
 public:
  /// bufs[0] is the error word; begin..end counts tasks: blocks of the outer ranges, flattened. Returns error bits.
  using EntryPoint = int (*)(void* const* bufs, const int64_t* vars, int64_t begin, int64_t end);

  /// Throws BackendError if the code lacks an entry.
  Program(const KernelSource& kernel, Hash128 key, std::unique_ptr<cpu::MachineCode> code);
  /// A kernel for GPUs, which each device loads when it first runs there.
  Program(const KernelSource& kernel, Hash128 key, std::unique_ptr<cuda::Image> image);
  ~Program();

  const std::string& name() const { return name_; }
  /// Tasks of a launch over outer ranges of these sizes.
  int64_t task_count(std::span<const int64_t> outer) const;
  int64_t scratch() const { return scratch_; }
  /// What GPUs load; null for a kernel of the CPU. The rest is about those.
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

/// A program per kernel, in order. What neither memory nor the cache folder holds is compiled, in parallel. At DEBUG=4
/// every source is logged, wherever its program came from. Throws CompileError with the source's path and the
/// compiler's log; the kernels that did compile are kept; DialectMismatch before anything is compiled. Safe from
/// several threads; takes milliseconds, so hold no graph lock.
std::vector<std::shared_ptr<const Program>> compile(std::span<const KernelSource> kernels, const Target& target);

class Toolchain;
/// The programs of these keys, which compile() made of such kernels once, here or in another process: from memory or
/// the cache folder. No texts are needed. Empty if one of them is in neither.
std::vector<std::shared_ptr<const Program>> find_programs(std::span<const KernelSource> kernels,
                                                          std::span<const Hash128> keys, const Toolchain& tools);

/// Programs that this process keeps for the next plan.
size_t cached_program_count();

/// Forgets them, for tests; programs in use stay valid.
void forget_programs();

}  // namespace sinter::runtime
