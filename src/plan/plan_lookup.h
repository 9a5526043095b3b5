// From a request to a plan that can run: liveness, canonicalize, key, lookup; on a miss materialize and build. The walk
// of liveness alone recognizes a program that ran a moment ago (fingerprint.h), without canonicalizing and key.
#pragma once

#include <functional>
#include <memory>
#include <variant>

#include "plan/fingerprint.h"
#include "plan/plan_cache.h"
#include "runtime/base/target.h"
#include "sinter/debug.h"

namespace sinter::plan {

using debug::Executor;

/// A program of this moment, and what the caches know of it.
struct PlanInstance {
  CanonicalProgram program;
  runtime::Target target;  ///< the device's now: part of the plan key, and what kernels are written for
  bool copies = false;     ///< the plan only copies between devices
  bool flushes = false;    ///< denormals are zeros in the plan (SEMANTICS N7)
  PlanKey plan_key;
  std::shared_ptr<const PlanEntry> entry;         ///< null: not seen before
  bool from_recent = false;                       ///< recognized by its walk: no key was computed
  runtime::Hash128 salt;                          ///< hash of everything but the program that decides the plan
  uint64_t place = 0;                             ///< key of keep_recent()
  Fingerprint fingerprint;                        ///< of the walk; empty if the program cannot be recognized by it
  std::unique_ptr<runtime::Execution> execution;  ///< of `entry`, after the first bind()
};

/// A plan in flight will store one of the nodes: wait, and look up again.
struct NodeClaimed {};
/// The request spans devices: split it.
struct SpansDevices {};
/// The pointer is never null.
using PlanLookup = std::variant<std::unique_ptr<PlanInstance>, NodeClaimed, SpansDevices>;

/// Under the graph's mutex.
PlanLookup lookup_plan(const Request& request, Executor executor);
/// For another machine than the host: the kernels can be written, not run.
PlanLookup lookup_plan(const Request& request, Executor executor, const runtime::Target& target);

/// Keeps a program that has run, to recognize it at the next call. Under the graph's mutex.
void keep_recent(std::unique_ptr<PlanInstance> instance);
/// Forgets what keep_recent() kept.
void forget_recent();

/// The remaining work for a program not seen before. Call it without the graph's mutex: it compiles. Copies what it
/// needs from the graph now. Throws CompileError, or DialectMismatch if the plan should be requested anew; both without
/// any effect.
struct PlanBuild {
  std::function<std::shared_ptr<const PlanEntry>()> run;
  std::function<KernelSources()> write;  ///< only writes the kernels; null on the interpreter
  std::vector<uint8_t> is_argument;
};
PlanBuild build_plan(const PlanInstance& instance, Executor executor);

/// Binds the execution to the slots, arguments and sizes of this call. Throws like runtime::Execution::bind().
void bind(PlanInstance& instance);
/// Releases what bind() took, if it was called.
void unbind(PlanInstance& instance);

}  // namespace sinter::plan
