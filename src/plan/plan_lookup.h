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

namespace sinter::schedule {

using debug::Executor;

struct Parametrised {
  Collected plan;
  runtime::Target
      target;            ///< the device's, at this moment: the plan's key names it, and its kernels are written for it
  bool copies = false;   ///< the plan copies between devices, and computes nothing
  bool flushes = false;  ///< denormals are zeros in the plan (SEMANTICS N7)
  Canonical canonical;
  std::shared_ptr<const Executable> executable;  ///< null: not seen before
  bool claimed =
      false;           ///< a plan in flight will store one of the nodes: wait, and ask again. Nothing else is set then
  bool mixed = false;  ///< what was asked for spans devices: ask for its parts. Nothing else is set then
  bool known = false;  ///< it ran before with the same walk: nothing was keyed or looked up
  runtime::Hash128 salt;           ///< of all that decides the plan beside the program
  uint64_t place = 0;              ///< where recycle() keeps it
  Imprint imprint;                 ///< of the walk; empty where it cannot be known again
  std::unique_ptr<Execution> run;  ///< of `executable`, once this was bound
};

/// Under the graph's mutex. Never null.
std::unique_ptr<Parametrised> parametrise(const Request& request, Executor executor);
/// For another machine than the host: to be written, not to be run.
std::unique_ptr<Parametrised> parametrise(const Request& request, Executor executor, const runtime::Target& target);

/// Keeps a program that has run for the next time that the same is asked for. Under the graph's mutex.
void recycle(std::unique_ptr<Parametrised> program);
/// Forgets what recycle() kept.
void forget_recent();

/// What is left to do for a program not seen before, to be called without the graph's mutex: it compiles. Takes all it
/// needs of the graph now. Throws CompileError, or DialectChanged when
/// the plan should be asked for anew; nothing has changed then.
struct Build {
  std::function<std::shared_ptr<const Executable>()> run;
  std::function<Written()> write;  ///< the kernels alone, nothing compiled; null on the interpreter
  std::vector<uint8_t> lifted;
};
Build build_plan(const Parametrised& program, Executor executor);

/// Makes `run` ready on the slots, arguments and sizes of this call. Throws as Execution::bind() does.
void bind(Parametrised& program);
/// Gives back what bind() took, if it has been called.
void unbind(Parametrised& program);

}  // namespace sinter::schedule
