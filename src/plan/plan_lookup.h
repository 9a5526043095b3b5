// From what is asked for to a plan that can run: reach, collect, key, look up; on a miss decide, lift and build. A
// program seen before costs one walk over its nodes, and one that was seen a moment ago is known by that walk
// (fingerprint.h).
#pragma once

#include <functional>
#include <memory>

#include "plan/fingerprint.h"
#include "plan/plan_cache.h"
#include "runtime/base/target.h"
#include "sinter/debug.h"

namespace sinter::plan {

using debug::Executor;

struct PlanInstance {
  CanonicalProgram plan;
  runtime::Target
      target;            ///< the device's, at this moment: the plan's key names it, and its kernels are written for it
  bool copies = false;   ///< the plan copies between devices, and computes nothing
  bool flushes = false;  ///< denormals are zeros in the plan (SEMANTICS N7)
  PlanKey plan_key;
  std::shared_ptr<const Executable> executable;  ///< null: not seen before
  bool claimed =
      false;           ///< a plan in flight will store one of the nodes: wait, and ask again. Nothing else is set then
  bool mixed = false;  ///< what was asked for spans devices: ask for its parts. Nothing else is set then
  bool from_recent = false;              ///< it ran before with the same walk: nothing was keyed or looked up
  runtime::Hash128 salt;                 ///< of all that decides the plan beside the program
  uint64_t place = 0;                    ///< where keep_recent() keeps it
  Fingerprint fingerprint;               ///< of the walk; empty where it cannot be known again
  std::unique_ptr<Execution> execution;  ///< of `executable`, once this was bound
};

/// Under the graph's mutex. Never null.
std::unique_ptr<PlanInstance> lookup_plan(const Request& request, Executor executor);
/// For another machine than the host: to be written, not to be run.
std::unique_ptr<PlanInstance> lookup_plan(const Request& request, Executor executor, const runtime::Target& target);

/// Keeps a program that has run for the next time that the same is asked for. Under the graph's mutex.
void keep_recent(std::unique_ptr<PlanInstance> program);
/// Forgets what keep_recent() kept.
void forget_recent();

/// What is left to do for a program not seen before, to be called without the graph's mutex: it compiles. Takes all it
/// needs of the graph now. Throws CompileError, or DialectMismatch when
/// the plan should be asked for anew; nothing has changed then.
struct PlanBuild {
  std::function<std::shared_ptr<const Executable>()> run;
  std::function<KernelSources()> write;  ///< the kernels alone, nothing compiled; null on the interpreter
  std::vector<uint8_t> is_argument;
};
PlanBuild build_plan(const PlanInstance& program, Executor executor);

/// Makes `run` ready on the slots, arguments and sizes of this call. Throws as Execution::bind() does.
void bind(PlanInstance& program);
/// Gives back what bind() took, if it has been called.
void unbind(PlanInstance& program);

}  // namespace sinter::plan
