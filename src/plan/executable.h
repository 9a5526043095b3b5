// A plan that can run: on generated kernels (plan/compiled_plan.cpp), on the interpreter (plan/interpreted_plan.cpp),
// or by copies between devices (plan/copy_plan.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "plan/build_plan_graph.h"
#include "plan/invariant_steps.h"
#include "runtime/base/target.h"
#include "runtime/exec/buffer.h"
#include "runtime/program/program.h"
#include "schedule/schedule.h"
#include "sinter/inline_vector.h"

namespace sinter::plan {

/// The inputs of one run. Buffers are borrowed for the run.
struct Bindings {
  InlineVector<runtime::Buffer*, 8> slots;
  std::vector<ir::Scalar> args;
  std::vector<int64_t> vars;
  /// Per position the call that made it, for the log; empty if unknown.
  std::vector<const ir::NodeOrigin*> origins;
  std::vector<uint8_t>
      unchanged_slots;  ///< per slot: unchanged since the last run that did not throw; empty: no slot is
};

/// Runs of a plan, one after the other, with everything that they can share.
class Execution {
 public:
  virtual ~Execution() = default;
  /// Before each run: allocates everything. Throws OutOfMemory without any effect.
  virtual void bind(const Bindings& bindings) = 0;
  /// After each run: frees what nobody has taken.
  virtual void unbind() = 0;
  /// Whether a run with these Bindings::unchanged_slots would skip cached invariant steps, once they are cached.
  virtual bool skips_invariants(std::span<const uint8_t> same) const { return static_cast<void>(same), false; }
  /// Frees cached invariants; the next run computes them again. Returns false if there are none. Not between bind() and
  /// unbind().
  virtual bool drop_invariants() { return false; }
  /// Enqueues the plan on its device; on the CPU, runs it. Returns the bits of the error word (SEMANTICS F6), if known.
  /// Throws BackendError if a launch fails: the contents of stored values are then undefined. Throws OutOfMemory with
  /// all memory as before. Needs no graph lock.
  virtual uint32_t run() = 0;
  /// The estimated time is so short that run() may be called under the graph's lock: releasing it would cost more than
  /// other threads could gain.
  bool is_short = false;
  /// Runs use Bindings::unchanged_slots.
  bool caches_invariants = false;
  /// After run(): the word that holds the bits once the device is done; null if they are known already.
  std::unique_ptr<runtime::Buffer> error;

  /// New memory per stored value; null if the value goes to a slot.
  std::vector<std::unique_ptr<runtime::Buffer>> fresh;
};

/// A value that a plan stores, after ordering.
struct StoreTarget {
  int32_t position;
  int32_t home;  ///< slot it is written to, or -1: new memory
};

class Executable {
 public:
  virtual ~Executable() = default;
  /// For runs one after the other. The Executable must outlive it; several may exist at a time.
  virtual std::unique_ptr<Execution> make_execution() const = 0;
  /// The same, but values that depend on `invariant` inputs only may be computed once and cached, while
  /// Bindings::unchanged_slots says that the inputs are unchanged.
  virtual std::unique_ptr<Execution> make_caching_execution(const InvariantInputs& invariant) const {
    return static_cast<void>(invariant), make_execution();
  }

  std::vector<StoreTarget> targets;   ///< per stored value, sources first
  std::vector<int32_t> target_of;     ///< per position: index into `targets`, or -1
  std::vector<uint32_t> arg_numbers;  ///< per Arg: index into PlanKey::numbers
  Materialization materialization;    ///< before order_steps() broke cycles of stores
  bool spare_stores = false;          ///< it stores values that a lean Request would leave lazy
  bool flushes = false;               ///< denormals are zeros in it (SEMANTICS N7)
  mutable uint64_t used = 0;          ///< last use, by the plan cache's clock; guarded by the tensor graph's mutex
};

/// Evaluates position by position on the interpreter: the oracle, and the executor without a compiler.
std::unique_ptr<Executable> make_interpreted(const CanonicalProgram& plan, Materialization materialization,
                                             const PlanKey& plan_key, const std::vector<uint8_t>& is_argument);

/// A plan whose values are COPYs of slots, each into new memory of its device.
std::unique_ptr<Executable> make_copies(const CanonicalProgram& plan);

/// A plan on generated kernels, before they are compiled.
struct KernelSources {
  schedule::KernelSchedule scheduled;
  std::vector<runtime::KernelSource> sources;  ///< of scheduled.kernels
  bool decided = true;                         ///< false: a search for Opts was impossible now
};

/// The remaining work for a plan on generated kernels. Needs no graph lock.
struct Compilation {
  std::function<KernelSources()> write;
  std::function<std::shared_ptr<Executable>()> run;  ///< writes and compiles
};
/// Copies what it needs from the graph now. `unfused`: one kernel per op, in plain loops.
Compilation make_compiled(const CanonicalProgram& plan, const Materialization& materialization, const PlanKey& plan_key,
                          const std::vector<uint8_t>& is_argument, const runtime::Target& target, bool unfused);

}  // namespace sinter::plan
