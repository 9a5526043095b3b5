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

/// One kernel as C text: freestanding, well-defined C that both Clang and GCC 12 take. Several share a translation
/// unit, so everything it defines at file scope should begin with `name` (typedefs, which may be repeated, excepted);
/// texts that collide are compiled one by one, which is slower and nothing else.
struct KernelSource {
  std::string name;  ///< the function it defines; a part of it says the content, so that names do not collide
  std::string text;
  bool has_finish = false;  ///< it defines NAME_finish too, which runs after the join
};

/// A kernel in memory, immutable and free to be called from any thread.
class Program {
 public:
  /// bufs[0] is the error word; begin..end counts flattened outer ranges. Returns error bits.
  using Entry = int (*)(void* const* bufs, const int64_t* vars, int64_t begin, int64_t end);

  /// Throws BackendError if the code lacks an entry.
  Program(std::string name, bool has_finish, Hash128 key, std::unique_ptr<cpu::Code> code);

  const std::string& name() const { return name_; }
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
  Entry entry_ = nullptr, finish_ = nullptr;
};

/// The compiler that a Target was made for turned out not to run, and the one that is left speaks another dialect:
/// kernels must be written anew, for what host_target() is now.
class DialectChanged : public BackendError {
 public:
  using BackendError::BackendError;
};

/// A program per kernel, in order. What neither memory nor the cache folder holds is compiled, in parallel. At DEBUG=4
/// every source is logged, wherever its program came from. Throws CompileError with the source's path and the
/// compiler's log; the kernels that did compile are kept; DialectChanged before anything is compiled. Safe from several threads; takes milliseconds, so hold no
/// graph lock.
std::vector<std::shared_ptr<const Program>> compile(std::span<const KernelSource> kernels, const Target& target);

/// Programs that this process keeps for the next plan.
size_t cached_programs();

/// Forgets them, for tests; programs in use stay valid.
void forget_programs();

}  // namespace sinter::runtime
