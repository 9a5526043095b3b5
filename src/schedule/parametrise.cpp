// The order of parametrising.
#include "schedule/parametrise.h"

#include <string>
#include <utility>

#include "runtime/counters.h"
#include "runtime/env.h"
#include "runtime/faults.h"
#include "runtime/target.h"
#include "sinter/error.h"

namespace sinter::schedule {
namespace {

/// What else than the program decides a plan. Under the graph's mutex; every plan asks, so the last Target's is kept.
runtime::Hash128 salt(Executor executor, const runtime::Target& target, bool copies) {
  struct Salts {
    runtime::Target target;
    runtime::Hash128 fused, unfused;
  };
  static Salts& known = *new Salts;
  static const runtime::Hash128 interpreter = runtime::hash_bytes("interpreter"), copy = runtime::hash_bytes("copies");
  if (copies) return copy;
  if (executor == Executor::Interpreter) return interpreter;
  if (known.fused == runtime::Hash128() || !(known.target == target))
    known = {target, runtime::hash_bytes("fused " + target.key()), runtime::hash_bytes("unfused " + target.key())};
  return executor == Executor::Compiled ? known.fused : known.unfused;
}

/// All decisions follow from the key: said once more, at the price of deciding.
void check_decisions(const Parametrised& program) {
  if (decide(program.plan) != program.executable->decision)
    throw InternalError("two programs of one plan key store different values or write in different places");
}

void inject_refusal(const Collected& plan) {
  const auto& refuse = runtime::faults().refuse;
  if (!refuse) return;
  for (const Position& p : plan.positions)
    if (p.slot < 0 && refuse(p.node->op)) throw CompileError("the plan does not compile (injected)");
}

}  // namespace

Parametrised parametrise(const Request& request, Executor executor) {
  const bool kernels = executor != Executor::Interpreter && !request.copies;
  return parametrise(request, executor, kernels ? runtime::target_of(request.roots[0]->device) : runtime::Target());
}

Parametrised parametrise(const Request& request, Executor executor, const runtime::Target& target) {
  Parametrised out;
  out.plan = collect(request);
  if (out.plan.claimed || out.plan.mixed) return out;
  out.target = target;
  out.copies = request.copies;
  out.canonical = canonicalise(out.plan, salt(executor, out.target, out.copies));
  out.executable = PlanCache::get().find(out.canonical);
  if (out.executable && (runtime::faults().check_plans || runtime::env().check)) check_decisions(out);
  return out;
}

Build build_plan(const Parametrised& program, Executor executor) {
  Build build;
  build.lifted = PlanCache::get().lifted_for(program.canonical);
  inject_refusal(program.plan);
  Liveness decision = decide(program.plan);
  std::function<std::shared_ptr<Executable>()> make;
  if (program.copies) {
    make = [plan = std::shared_ptr(make_copies(program.plan))] { return plan; };
  } else if (executor == Executor::Interpreter) {
    make = [plan = std::shared_ptr(make_interpreted(program.plan, decision, program.canonical, build.lifted))] {
      return plan;
    };
  } else {
    Compilation compilation = make_compiled(program.plan, decision, program.canonical, build.lifted, program.target,
                                            executor == Executor::Unfused);
    make = std::move(compilation.run);
    build.write = std::move(compilation.write);
  }
  build.run = [make = std::move(make), decision = std::move(decision), positions = program.plan.positions.size()] {
    runtime::count(runtime::counters().plan_misses);
    std::shared_ptr<Executable> plan = make();
    plan->decision = decision;
    plan->target_of.assign(positions, -1);
    for (size_t t = 0; t < plan->targets.size(); ++t)
      plan->target_of[static_cast<size_t>(plan->targets[t].position)] = static_cast<int32_t>(t);
    return plan;
  };
  return build;
}

Bindings bind(const Parametrised& program) {
  Bindings out;
  for (const StorageUse& s : program.plan.storages) out.slots.push_back(static_cast<runtime::Buffer*>(s.storage));
  for (uint32_t n : program.executable->arg_numbers) out.args.push_back(program.canonical.numbers[n].value);
  for (const BoundVar& v : program.canonical.vars) out.vars.push_back(v.value);
  return out;
}

}  // namespace sinter::schedule
