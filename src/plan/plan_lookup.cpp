// The steps of plan lookup, in order.
#include "plan/plan_lookup.h"

#include <algorithm>
#include <array>
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

namespace sinter::plan {
namespace {

/// Everything but the program that decides a plan. Under the graph's mutex. Caches the last Target's hashes.
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

constexpr size_t kLarge = 1 << 16;    ///< nodes; memory for larger walks is freed
constexpr size_t kLargeRecent = 512;  ///< nodes of a walk that is kept
constexpr size_t kRecent = 16;

/// Programs that have run, each until it is requested again or evicted by another. Guarded by the graph's mutex.
std::unique_ptr<PlanInstance>& recent(uint64_t place) {
  static auto& programs = *new std::array<std::unique_ptr<PlanInstance>, kRecent>;
  return programs[place % kRecent];
}
/// Equal for every request of a program.
uint64_t recent_key(const Request& request, const Liveness& liveness) {
  return ir::mix(request.roots[0]->order_hash, liveness.order.size());
}

/// The program that ran with the same walk, rebound to the new nodes; null if there is none.
std::unique_ptr<PlanInstance> find_recent(const Request& request, const Liveness& liveness,
                                          const runtime::Hash128& salt) {
  std::unique_ptr<PlanInstance>& last = recent(recent_key(request, liveness));
  if (!last || !(last->salt == salt) || !last->fingerprint.matches(request, liveness, last->program)) return nullptr;
  last->fingerprint.rebind(liveness, last->program, last->plan_key);
  last->from_recent = true;
  PlanCache::get().touch(*last->entry);
  return std::move(last);
}

/// Canonicalizes, computes the key and looks it up.
std::unique_ptr<PlanInstance> lookup_by_key(const Request& request, const Liveness& liveness,
                                            const runtime::Target& target, const runtime::Hash128& salt, bool flushes) {
  auto out = std::make_unique<PlanInstance>();
  out->target = target;
  out->copies = request.copies;
  out->flushes = flushes;
  out->salt = salt;
  out->place = recent_key(request, liveness);
  out->program = canonicalize(request, liveness);
  out->plan_key = make_plan_key(out->program, salt);
  out->entry = PlanCache::get().find(out->plan_key);
  if (out->entry && liveness.order.size() <= kLargeRecent)
    out->fingerprint = Fingerprint(request, liveness, out->program, out->plan_key);
  return out;
}

bool checking() { return runtime::fault_injection().check_plans || runtime::env().check; }

/// Verifies that all decisions follow from the key and the key from the fingerprint, by computing both again.
void check(const PlanInstance& instance, const PlanInstance& again) {
  if (materialize(instance.program) != instance.entry->materialization)
    throw InternalError("two programs of one plan key store different values or write in different places");
  const auto storage = [](const StorageUse& use) { return std::tuple(use.storage, use.node.get(), use.owners); };
  const auto number = [](const Number& n) { return std::tuple(n.value.bits(), n.dtype, n.always); };
  const auto place = [](const Position& p) {
    return std::tuple(p.node.get(), p.slot, p.home, p.root, p.outlives, p.backs_outside);
  };
  const auto same = [](const auto& a, const auto& b, auto what) {
    return std::ranges::equal(a, b, [&](const auto& x, const auto& y) { return what(x) == what(y); });
  };
  const CanonicalProgram &a = instance.program, &b = again.program;
  if (!(instance.plan_key.hash == again.plan_key.hash) || instance.entry != again.entry ||
      a.position_of != b.position_of || a.roots != b.roots || a.nodes != b.nodes || a.constants != b.constants ||
      !same(a.positions, b.positions, place) || !same(a.storages, b.storages, storage) ||
      !same(instance.plan_key.numbers, again.plan_key.numbers, number))
    throw InternalError("a program was taken for one that ran with the same walk, and is another");
}

/// By the fingerprint, or else by the key.
std::unique_ptr<PlanInstance> lookup_walked(const Request& request, const Liveness& liveness, Executor executor,
                                            const runtime::Target& target) {
  runtime::Hash128 salt = plan::salt(executor, target, request.copies);
  const auto also = [&](std::string_view what) {
    salt = runtime::HashBuilder().add(what).add(salt.low).add(salt.high).hash();
  };
  if (request.lean) also("lean");
  const bool flushes = ir::flush_denormals() && !request.copies && request.roots[0]->device == Device::cpu();
  if (flushes) also("denormals are zeros");
  std::unique_ptr<PlanInstance> out = find_recent(request, liveness, salt);
  if (!out) out = lookup_by_key(request, liveness, target, salt, flushes);
  if (out->entry && checking()) check(*out, *lookup_by_key(request, liveness, target, salt, flushes));
  return out;
}

void inject_refusal(const CanonicalProgram& plan) {
  const auto& refuse = runtime::fault_injection().refuse;
  if (!refuse) return;
  for (const Position& p : plan.positions)
    if (p.slot < 0 && refuse(p.node->op)) throw CompileError("the plan does not compile (injected)");
}

}  // namespace

PlanLookup lookup_plan(const Request& request, Executor executor) {
  static const runtime::Target& none = *new runtime::Target;
  const bool kernels = executor != Executor::Interpreter && !request.copies;
  return lookup_plan(request, executor, kernels ? runtime::target_of(request.roots[0]->device) : none);
}

PlanLookup lookup_plan(const Request& request, Executor executor, const runtime::Target& target) {
  static Liveness& liveness = *new Liveness;  // guarded by the graph's mutex; keeps its memory for the next walk
  compute_liveness(request, liveness);
  PlanLookup out;
  if (liveness.claimed)
    out = NodeClaimed();
  else if (liveness.mixed)
    out = SpansDevices();
  else
    out = lookup_walked(request, liveness, executor, target);
  if (liveness.order.size() > kLarge) liveness = {};
  return out;
}

void keep_recent(std::unique_ptr<PlanInstance> instance) {
  if (instance->fingerprint.empty()) return;
  unbind(*instance);
  std::unique_ptr<PlanInstance>& place = recent(instance->place);
  place = std::move(instance);
}

void forget_recent() {
  for (size_t i = 0; i < kRecent; ++i) recent(i).reset();
}

PlanBuild build_plan(const PlanInstance& instance, Executor executor) {
  PlanBuild build;
  build.is_argument = PlanCache::get().arguments_for(instance.plan_key);
  inject_refusal(instance.program);
  Materialization materialization = materialize(instance.program);
  const bool spare_stores = has_spare_stores(instance.program, materialization);
  std::function<PlanEntry()> make;
  const auto made = [](PlanEntry entry) {
    return [entry = std::make_shared<PlanEntry>(std::move(entry))] { return std::move(*entry); };
  };
  if (instance.copies) {
    make = made(make_copies(instance.program));
  } else if (executor == Executor::Interpreter) {
    make = made(make_interpreted(instance.program, materialization, instance.plan_key, build.is_argument));
  } else {
    Compilation compilation = make_compiled(instance.program, materialization, instance.plan_key, build.is_argument,
                                            instance.target, executor == Executor::Unfused);
    make = std::move(compilation.run);
    build.write = std::move(compilation.write);
  }
  build.run = [make = std::move(make), materialization = std::move(materialization), spare_stores,
               flushes = instance.flushes, positions = instance.program.positions.size()] {
    runtime::count(runtime::counters().plan_misses);
    const ir::FlushDenormals zeros(flushes);  // fold constants as kernels would compute them
    auto entry = std::make_shared<PlanEntry>(make());
    entry->materialization = materialization;
    entry->spare_stores = spare_stores;
    entry->flushes = flushes;
    entry->target_of.assign(positions, -1);
    for (size_t t = 0; t < entry->targets.size(); ++t)
      entry->target_of[entry->targets[t].position] = static_cast<int32_t>(t);
    return entry;
  };
  return build;
}

void bind(PlanInstance& instance) {
  runtime::Bindings out;
  for (const StorageUse& s : instance.program.storages) out.slots.push_back(static_cast<runtime::Buffer*>(s.storage));
  for (uint32_t n : instance.entry->arg_numbers) out.args.push_back(instance.plan_key.numbers[n].value);
  for (const BoundVar& v : instance.plan_key.vars) out.vars.push_back(v.value);
  if (runtime::logging(1))
    for (const Position& p : instance.program.positions) out.origins.push_back(p.node->state.origin);
  if (!instance.execution) instance.execution = instance.entry->executable->make_execution();
  instance.execution->bind(out);
}

void unbind(PlanInstance& instance) {
  if (instance.execution) instance.execution->unbind();
}

}  // namespace sinter::plan
