// Plans on generated kernels: loaded from the cache folder, or scheduled, written and compiled.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "codegen/codegen.h"
#include "codegen/tune/choose_opts.h"
#include "ir/denormals.h"
#include "ir/lists.h"
#include "ir/origin.h"
#include "ir/walk.h"
#include "plan/beam_search.h"
#include "plan/plan_entry.h"
#include "runtime/base/env.h"
#include "runtime/base/fault_injection.h"
#include "runtime/base/log.h"
#include "runtime/base/process_exit.h"
#include "runtime/cpu/start_threads.h"
#include "runtime/exec/devices.h"
#include "runtime/exec/executable_plan.h"
#include "runtime/exec/plan_store.h"
#include "runtime/program/host_target.h"
#include "runtime/program/program.h"
#include "schedule/interpret_plan.h"
#include "sinter/error.h"

namespace sinter::plan {
namespace {

/// How kernels get their Opts, captured when the plan was requested: the environment may change until they are written.
struct OptPolicy {
  bool unfused;
  int beam;
};

/// The only place where a kernel's Opts are chosen: none, by search, or by the heuristic. Sets `decided` to false if a
/// search was impossible.
runtime::KernelSource write_kernel(const schedule::KernelSchedule& scheduled, size_t number,
                                   const runtime::Target& target, const OptPolicy& policy, bool& decided) {
  const codegen::Kernel& kernel = scheduled.kernels[number];
  if (policy.unfused) return codegen::generate_source(kernel, target, {});
  if (!policy.beam || codegen::is_opaque(kernel) || target != runtime::target_of(scheduled.plan.device))
    return codegen::generate_source(kernel, target);
  const codegen::NormalizedKernel normalized = codegen::normalize(kernel, target);
  const std::optional<std::vector<codegen::Opt>> found =
      search_opts(scheduled, number, normalized, target, policy.beam);
  if (!found) decided = false;
  const std::vector<codegen::Opt> opts = found ? *found : codegen::choose_opts(normalized.main, target);
  return codegen::generate_source(normalized, target, opts, codegen::choose_epilogue_opts(normalized, target, opts));
}

/// Kernels by size, the largest first, so that all threads that write them end at about the same time.
std::vector<size_t> largest_first(const std::vector<codegen::Kernel>& kernels) {
  const auto nodes = [](ir::UOp sink) { return sink ? ir::topological(sink).size() : 0; };
  const std::vector<size_t> sizes =
      ir::mapped(kernels, [&](const codegen::Kernel& k) { return nodes(k.sink) + nodes(k.epilogue_sink); });
  std::vector<size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](size_t k) { return std::pair(-static_cast<int64_t>(sizes[k]), k); });
  return order;
}

KernelSources write_kernels(const PlanProgram& program, const runtime::Target& target, const OptPolicy& policy) {
  KernelSources out{
      schedule::schedule(program.graph, target, policy.unfused ? schedule::Policy::Unfused : schedule::Policy::Fused),
      {}};
  out.scheduled.plan.device = program.graph.outputs[0].value->device;
  const size_t kernels = out.scheduled.kernels.size();
  out.sources.resize(kernels);
  std::vector<uint8_t> decided(kernels, true);
  // Each kernel has a graph of its own. A search needs the device for itself, and a log is read in order.
  const int threads = policy.beam || runtime::logging(1) ? 1 : runtime::cpu::helper_threads(target);
  const auto write = [&](size_t i) {
    bool found = true;
    out.sources[i] = write_kernel(out.scheduled, i, target, policy, found);
    decided[i] = found;
  };
  if (threads > 1 && kernels > 1) {
    const std::vector<size_t> order = largest_first(out.scheduled.kernels);
    runtime::cpu::run_in_parallel(kernels, threads, [&](size_t i) { write(order[i]); });
  } else {
    for (size_t i = 0; i < kernels; ++i) write(i);
  }
  out.decided = std::ranges::all_of(decided, [](uint8_t d) { return d; });
  return out;
}

/// Whether an index can be out of range, or a matrix without a result. Everything else in kernels is total.
bool can_raise_errors(const schedule::PlanGraph& plan) {
  const std::vector<ir::UOp> nodes = ir::topological(values_of(plan));
  return std::ranges::any_of(
      nodes, [](ir::UOp n) { return n->op == ir::Op::Gather || n->op == ir::Op::Scatter || n->op == ir::Op::Lapack; });
}

/// Everything but the library that decides a plan: the program, the values of its constants, and how kernels get their
/// Opts.
runtime::Hash128 key_of(const PlanKey& plan_key, const std::vector<uint8_t>& is_argument, const OptPolicy& policy) {
  runtime::HashBuilder fields;
  fields.add(plan_key.hash.low).add(plan_key.hash.high).add(static_cast<uint64_t>(policy.beam));
  fields.add({reinterpret_cast<const char*>(is_argument.data()), is_argument.size()});
  for (size_t i = 0; i < is_argument.size(); ++i)
    if (!is_argument[i]) fields.add(plan_key.numbers[i].value.bits());
  return fields.hash();
}

/// Whether stored plans must be bypassed: somebody observes how plans are made, or distrusts the cache folder.
bool decided_anew() {
  return runtime::env().check || runtime::logging(3) || schedule::observers_bypass_cache() ||
         runtime::fault_injection().skip_stored_plans;
}

runtime::Plan make_plan(const PlanProgram& program, const runtime::Hash128& key, const runtime::Target& target,
                        const OptPolicy& policy) {
  const bool anew = decided_anew();
  if (!anew)
    if (std::optional<runtime::Plan> stored = runtime::load_plan(key, target)) return *std::move(stored);
  const runtime::ProcessExitGuard guard;  // one for writing and compiling: a thread that comes after exit() waits once
  const runtime::ProcessExitGuard::Share share(guard);
  KernelSources written = write_kernels(program, target, policy);
  runtime::Plan& plan = written.scheduled.plan;
  plan.raises_errors = can_raise_errors(program.graph);
  plan.programs = runtime::compile(written.sources, target);
  if (runtime::env().check) check_programs(program.graph, written.scheduled);
  if (!anew && written.decided) runtime::store_plan(key, plan, written.sources, target);
  return std::move(plan);
}

PlanEntry compile_plan(const PlanProgram& program, const runtime::Hash128& key, const runtime::Target& target,
                       const OptPolicy& policy) {
  PlanEntry out;
  out.arg_numbers = program.arg_numbers;
  runtime::Plan plan = make_plan(program, key, target, policy);
  runtime::PlanSignature signature{program.graph.args, {}};
  const auto slots = static_cast<int>(program.graph.slots.size());
  std::vector<uint8_t> met(program.graph.outputs.size());
  for (const StoredValue& v : program.stored) {
    const int buffer = plan.outputs[v.output];
    const bool first = !std::exchange(met[v.output], true);
    // The scheduler chose the place of the first of equal values; it may not be its home.
    const int home = !first ? v.home : buffer < slots ? buffer : -1;
    out.targets.push_back({v.position, home});
    signature.results.push_back({buffer, home});
  }
  out.executable = std::make_unique<runtime::ExecutablePlan>(std::move(plan), std::move(signature));
  return out;
}

}  // namespace

Compilation make_compiled(const CanonicalProgram& plan, const Materialization& materialization, const PlanKey& plan_key,
                          const std::vector<uint8_t>& is_argument, const runtime::Target& target, bool unfused) {
  const auto program =
      std::make_shared<const PlanProgram>(build_plan_graph(plan, materialization, plan_key, is_argument));
  const OptPolicy policy{unfused, runtime::env().beam};
  return {[program, target, policy] { return write_kernels(*program, target, policy); },
          [program, target, policy, key = key_of(plan_key, is_argument, policy)] {
            return compile_plan(*program, key, target, policy);
          }};
}

}  // namespace sinter::plan
