// A plan that can be run, whoever made it: generated kernels (plan/compiled_plan.cpp) or the interpreter
// (plan/interpreted_plan.cpp).
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

/// What one run works on. The buffers are borrowed for the run.
struct Bindings {
  InlineVector<runtime::Buffer*, 8> slots;
  std::vector<ir::Scalar> args;
  std::vector<int64_t> vars;
  /// Per position the call that made it, where the log wants to say it; none: not known.
  std::vector<const ir::NodeOrigin*> origins;
  std::vector<uint8_t> same;  ///< per slot: it holds what it did in the last run that did not throw; none: no slot does
};

/// Runs of a plan, one after the other: what each is made of is made once.
class Execution {
 public:
  virtual ~Execution() = default;
  /// Before each run: allocates everything. Throws OutOfMemory, and nothing has happened then.
  virtual void bind(const Bindings& bindings) = 0;
  /// After it: gives back what nobody has taken.
  virtual void unbind() = 0;
  /// Whether a run with these Bindings::same leaves something out that is kept, once it is.
  virtual bool skips_invariants(std::span<const uint8_t> same) const { return static_cast<void>(same), false; }
  /// Gives back what is kept, which the next run makes again; false if that is nothing. Not between bind() and
  /// unbind().
  virtual bool forget() { return false; }
  /// Puts it on the device's queue: on the CPU that is to run it. Returns the bits of the error word (SEMANTICS F6), if
  /// they are known. Throws BackendError when a launch fails: what the plan stores is then undefined; or OutOfMemory,
  /// and all memory is as it was. Needs no lock of the graph.
  virtual uint32_t run() = 0;
  /// So short, by the plan's estimate, that run() may be called under the graph's lock: other threads gain less by
  /// using the graph meanwhile than giving it to them costs.
  bool brief = false;
  /// Runs go by Bindings::same.
  bool caches_invariants = false;
  /// After run(): where the bits will be when the device is done; null if they are known.
  std::unique_ptr<runtime::Buffer> error;

  /// New memory of each stored value; null for one that goes to a slot.
  std::vector<std::unique_ptr<runtime::Buffer>> fresh;
};

/// A value that a plan stores, after its order is known.
struct StoreTarget {
  int32_t position;
  int32_t home;  ///< slot that it is written into, or -1: new memory
};

class Executable {
 public:
  virtual ~Executable() = default;
  /// For runs one after the other, which this outlives; several may be there at the same time.
  virtual std::unique_ptr<Execution> make_execution() const = 0;
  /// The same, where what depends on nothing but what is `invariant` may be computed once, and kept while
  /// Bindings::same says that it holds the same.
  virtual std::unique_ptr<Execution> make_caching_execution(const InvariantInputs& invariant) const {
    return static_cast<void>(invariant), make_execution();
  }

  std::vector<StoreTarget> targets;   ///< per stored value, sources first
  std::vector<int32_t> target_of;     ///< per position: its place in `targets`, or -1
  std::vector<uint32_t> arg_numbers;  ///< Arg n is this one of PlanKey::numbers
  Materialization materialization;    ///< before stores that wait for each other were cut
  bool spare_stores = false;          ///< it stores what a lean Request would not
  bool flushes = false;               ///< denormals are zeros in it (SEMANTICS N7)
  mutable uint64_t used =
      0;  ///< when it was last asked for, by the plan cache's clock; guarded by the tensor graph's mutex
};

/// Evaluates position by position on the interpreter: the oracle, and what runs without a compiler.
std::unique_ptr<Executable> make_interpreted(const CanonicalProgram& plan, Materialization materialization,
                                             const PlanKey& plan_key, const std::vector<uint8_t>& is_argument);

/// A plan whose values are COPYs of slots: each goes to new memory of its device.
std::unique_ptr<Executable> make_copies(const CanonicalProgram& plan);

/// A plan on generated kernels before they are compiled.
struct KernelSources {
  schedule::KernelSchedule scheduled;
  std::vector<runtime::KernelSource> sources;  ///< of scheduled.kernels
  bool decided = true;                         ///< false: a search for Opts could not be made now
};

/// What is left to do for a plan on generated kernels, without the graph's lock.
struct Compilation {
  std::function<KernelSources()> write;
  std::function<std::shared_ptr<Executable>()> run;  ///< writes and compiles
};
/// Takes what it needs of the graph now. `unfused`: every op is a kernel of its own, in plain loops.
Compilation make_compiled(const CanonicalProgram& plan, const Materialization& materialization, const PlanKey& plan_key,
                          const std::vector<uint8_t>& is_argument, const runtime::Target& target, bool unfused);

}  // namespace sinter::plan
