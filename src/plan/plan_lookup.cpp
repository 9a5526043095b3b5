// The order of parametrising.
#include "plan/plan_lookup.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "ir/denormals.h"
#include "runtime/base/counters.h"
#include "runtime/base/env.h"
#include "runtime/base/fault_injection.h"
#include "runtime/base/log.h"
#include "runtime/program/host_target.h"
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

constexpr size_t kLarge = 1 << 16;    ///< nodes; memory for so many is not kept
constexpr size_t kLargeRecent = 512;  ///< nodes of a walk that is kept
constexpr size_t kRecent = 16;

/// Programs that have run, each until it is asked for again or another takes its place. Guarded by the graph's mutex.
std::unique_ptr<Parametrised>& recent(uint64_t place) {
  static auto& programs = *new std::array<std::unique_ptr<Parametrised>, kRecent>;
  return programs[place % kRecent];
}
/// What is the same whenever a program is asked for.
uint64_t place_of(const Request& request, const Reach& reached) {
  return ir::mix(request.roots[0]->likeness, reached.order.size());
}

/// The program that ran with the same walk, on the nodes of this one; null if none did.
std::unique_ptr<Parametrised> known(const Request& request, const Reach& reached, const runtime::Hash128& salt) {
  std::unique_ptr<Parametrised>& last = recent(place_of(request, reached));
  if (!last || !(last->salt == salt) || !last->imprint.fits(request, reached, last->plan)) return nullptr;
  last->imprint.renew(reached, last->plan, last->canonical);
  last->known = true;
  PlanCache::get().touch(*last->executable);
  return std::move(last);
}

/// Collected, keyed and looked up.
std::unique_ptr<Parametrised> keyed(const Request& request, const Reach& reached, const runtime::Target& target,
                                    const runtime::Hash128& salt, bool flushes) {
  auto out = std::make_unique<Parametrised>();
  out->target = target;
  out->copies = request.copies;
  out->flushes = flushes;
  out->salt = salt;
  out->place = place_of(request, reached);
  out->plan = collect(request, reached);
  out->canonical = canonicalise(out->plan, salt);
  out->executable = PlanCache::get().find(out->canonical);
  if (out->executable && reached.order.size() <= kLargeRecent)
    out->imprint = Imprint(request, reached, out->plan, out->canonical);
  return out;
}

bool checking() { return runtime::faults().check_plans || runtime::env().check; }

/// All decisions follow from the key, and the key from the imprint: said once more, at the price of deciding and of
/// keying.
void check(const Parametrised& program, const Parametrised& again) {
  if (decide(program.plan) != program.executable->decision)
    throw InternalError("two programs of one plan key store different values or write in different places");
  const auto storage = [](const StorageUse& use) { return std::tuple(use.storage, use.node.get(), use.owners); };
  const auto number = [](const Number& n) { return std::tuple(n.value.bits(), n.dtype, n.always); };
  const auto place = [](const Position& p) {
    return std::tuple(p.node.get(), p.slot, p.home, p.root, p.outlives, p.backs_outside);
  };
  const auto same = [](const auto& a, const auto& b, auto what) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](const auto& x, const auto& y) { return what(x) == what(y); });
  };
  const Collected &a = program.plan, &b = again.plan;
  if (!(program.canonical.key == again.canonical.key) || program.executable != again.executable ||
      a.position_of != b.position_of || a.roots != b.roots || a.nodes != b.nodes || a.constants != b.constants ||
      !same(a.positions, b.positions, place) || !same(a.storages, b.storages, storage) ||
      !same(program.canonical.numbers, again.canonical.numbers, number))
    throw InternalError("a program was taken for one that ran with the same walk, and is another");
}

void inject_refusal(const Collected& plan) {
  const auto& refuse = runtime::faults().refuse;
  if (!refuse) return;
  for (const Position& p : plan.positions)
    if (p.slot < 0 && refuse(p.node->op)) throw CompileError("the plan does not compile (injected)");
}

}  // namespace

std::unique_ptr<Parametrised> parametrise(const Request& request, Executor executor) {
  static const runtime::Target& none = *new runtime::Target;
  const bool kernels = executor != Executor::Interpreter && !request.copies;
  return parametrise(request, executor, kernels ? runtime::target_of(request.roots[0]->device) : none);
}

std::unique_ptr<Parametrised> parametrise(const Request& request, Executor executor, const runtime::Target& target) {
  static Reach& reached = *new Reach;  // guarded by the graph's mutex; the memory is kept for the next walk
  reach(request, reached);
  std::unique_ptr<Parametrised> out;
  if (reached.claimed || reached.mixed) {
    out = std::make_unique<Parametrised>();
    out->claimed = reached.claimed;
    out->mixed = reached.mixed;
  } else {
    runtime::Hash128 salt = schedule::salt(executor, target, request.copies);
    const auto also = [&](std::string_view what) {
      salt = runtime::HashBuilder().add(what).add(salt.low).add(salt.high).hash();
    };
    if (request.lean) also("lean");
    const bool flushes = ir::flush_denormals() && !request.copies && request.roots[0]->device == Device::cpu();
    if (flushes) also("denormals are zeros");
    out = known(request, reached, salt);
    if (!out) out = keyed(request, reached, target, salt, flushes);
    if (out->executable && checking()) check(*out, *keyed(request, reached, target, salt, flushes));
  }
  if (reached.order.size() > kLarge) reached = {};
  return out;
}

void recycle(std::unique_ptr<Parametrised> program) {
  if (program->imprint.empty()) return;
  unbind(*program);
  std::unique_ptr<Parametrised>& place = recent(program->place);
  place = std::move(program);
}

void forget_recent() {
  for (size_t i = 0; i < kRecent; ++i) recent(i).reset();
}

Build build_plan(const Parametrised& program, Executor executor) {
  Build build;
  build.lifted = PlanCache::get().lifted_for(program.canonical);
  inject_refusal(program.plan);
  Liveness decision = decide(program.plan);
  const bool spares = has_spare_stores(program.plan, decision);
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
  build.run = [make = std::move(make), decision = std::move(decision), spares, flushes = program.flushes,
               positions = program.plan.positions.size()] {
    runtime::count(runtime::counters().plan_misses);
    const ir::FlushDenormals zeros(flushes);  // constants are folded as kernels would compute them
    std::shared_ptr<Executable> plan = make();
    plan->decision = decision;
    plan->spares = spares;
    plan->flushes = flushes;
    plan->target_of.assign(positions, -1);
    for (size_t t = 0; t < plan->targets.size(); ++t)
      plan->target_of[static_cast<size_t>(plan->targets[t].position)] = static_cast<int32_t>(t);
    return plan;
  };
  return build;
}

void bind(Parametrised& program) {
  Bindings out;
  for (const StorageUse& s : program.plan.storages) out.slots.push_back(static_cast<runtime::Buffer*>(s.storage));
  for (uint32_t n : program.executable->arg_numbers) out.args.push_back(program.canonical.numbers[n].value);
  for (const BoundVar& v : program.canonical.vars) out.vars.push_back(v.value);
  if (runtime::logging(1))
    for (const Position& p : program.plan.positions) out.origins.push_back(p.node->state.origin);
  if (!program.run) program.run = program.executable->runs();
  program.run->bind(out);
}

void unbind(Parametrised& program) {
  if (program.run) program.run->let_go();
}

}  // namespace sinter::schedule
