// How a program runs, whoever executes it: generated kernels on the CPU or a GPU (runtime/exec/executable_plan.h), the
// interpreter (plan/interpreted_plan.cpp), copies between devices (plan/copy_plan.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ir/attr.h"
#include "ir/origin.h"
#include "runtime/exec/buffer.h"
#include "sinter/inline_vector.h"

namespace sinter::runtime {

/// The inputs of one run. Buffers are borrowed for the run.
struct Bindings {
  InlineVector<Buffer*, 8> slots;
  std::vector<ir::Scalar> args;
  std::vector<int64_t> vars;
  /// Per position of the program the call that made it, for the log; empty if unknown.
  std::vector<const ir::NodeOrigin*> origins;
  /// Per slot: unchanged since the last run that did not throw; empty: no slot is.
  std::vector<uint8_t> unchanged_slots;
};

/// The inputs that are the same in every run, unless Bindings::unchanged_slots says otherwise.
struct InvariantInputs {
  std::vector<uint8_t> slots;      ///< per slot
  std::vector<uint8_t> args;       ///< per argument
  std::vector<uint8_t> vars = {};  ///< per symbolic size; none: all of them
};

/// Runs of a program, one after the other, with everything that they can share.
class Execution {
 public:
  virtual ~Execution() = default;
  Execution() = default;
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Before each run: allocates everything. Throws OutOfMemory without any effect.
  virtual void bind(const Bindings& bindings) = 0;
  /// After each run: frees what nobody has taken.
  virtual void unbind() = 0;
  /// Enqueues the program on its device; on the CPU, runs it. Returns the bits of the error word (SEMANTICS F6), if
  /// known. Throws BackendError if a launch fails: the contents of stored values are then undefined. Throws OutOfMemory
  /// with all memory as before. Needs no graph lock.
  virtual uint32_t run() = 0;

  /// Whether a run with these Bindings::unchanged_slots would skip steps whose results are kept, once they are.
  virtual bool skips_invariants(std::span<const uint8_t> same) const { return static_cast<void>(same), false; }
  /// Frees kept results; the next run computes them again. Returns false if there are none. Not between bind() and
  /// unbind().
  virtual bool drop_invariants() { return false; }

  /// From bind() on: the estimated time is so short that run() may be called under the graph's lock. Releasing it would
  /// cost more than other threads could gain.
  bool is_short = false;
  /// After run(): the word that holds the bits once the device is done; null if they are known already.
  std::unique_ptr<Buffer> error;
  /// From bind() on: new memory per result; null if the result goes to a slot.
  std::vector<std::unique_ptr<Buffer>> fresh;
};

/// A program that can run, from any thread. Immutable.
class Executable {
 public:
  virtual ~Executable() = default;
  Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  /// For runs one after the other; several may exist at a time. This object must outlive it.
  virtual std::unique_ptr<Execution> make_execution() const = 0;
  /// The same program, with executions that keep results of steps which depend on `invariant` inputs only, from run to
  /// run, while Bindings::unchanged_slots says that the inputs are unchanged. Null if no step can be skipped.
  virtual std::unique_ptr<Executable> hoist_invariants(const InvariantInputs& invariant) const {
    return static_cast<void>(invariant), nullptr;
  }
};

}  // namespace sinter::runtime
