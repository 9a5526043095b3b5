// Plans on generated kernels: loaded from the cache folder, or scheduled, written and compiled.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "codegen/codegen.h"
#include "codegen/tune/heuristic/heuristic.h"
#include "ir/denormals.h"
#include "ir/origin.h"
#include "ir/scalar_eval.h"
#include "ir/walk.h"
#include "plan/beam_search.h"
#include "plan/executable.h"
#include "runtime/base/env.h"
#include "runtime/base/fault_injection.h"
#include "runtime/base/log.h"
#include "runtime/exec/devices.h"
#include "runtime/exec/executable_plan.h"
#include "runtime/exec/plan_store.h"
#include "runtime/program/host_target.h"
#include "runtime/program/program.h"
#include "schedule/interpret_plan.h"
#include "sinter/error.h"

namespace sinter::plan {
namespace {

class CompiledExecutable final : public Executable {
 public:
  std::unique_ptr<Execution> make_execution() const override;
  std::unique_ptr<Execution> make_caching_execution(const InvariantInputs& invariant) const override;

  explicit CompiledExecutable(runtime::Plan plan)
      : executable_plan(std::make_shared<const runtime::ExecutablePlan>(std::move(plan))) {}

  std::shared_ptr<const runtime::ExecutablePlan> executable_plan;
  std::vector<DType> arg_types;
  std::vector<int> buffers;  ///< per target: the buffer in which the plan computes it
};

class CompiledExecution final : public Execution {
 public:
  /// `executable_plan`: the plan's, or a reordered copy.
  CompiledExecution(const CompiledExecutable& plan, std::shared_ptr<const runtime::ExecutablePlan> executable_plan)
      : plan_(plan), executable_plan_(std::move(executable_plan)), run_(executable_plan_->make_execution()) {
    fresh.resize(plan.targets.size());
    caches_invariants = !executable_plan_->plan().invariant_launches.empty();
  }

  void bind(const Bindings& bindings) override {
    bits_.clear();
    for (size_t i = 0; i < bindings.args.size(); ++i)
      bits_.push_back(ir::to_bits(plan_.arg_types[i], bindings.args[i]));
    run_->bind(bindings.slots, bindings.vars, bits_);
    is_short = run_->is_short();
    same_ = bindings.unchanged_slots;
    origins_ = bindings.origins;
    if (const ir::Caller* caller = runtime::logging(1) ? ir::caller() : nullptr) caller_ = place(*caller);
    for (size_t i = 0; i < plan_.targets.size(); ++i) {
      const int buffer = plan_.buffers[i];
      const int home = plan_.targets[i].home;
      if (home == buffer) continue;  // written in place
      if (home < 0 && (fresh[i] = run_->take(buffer))) continue;
      // An equal value of another cell: computed once, then copied.
      if (home < 0) fresh[i] = runtime::Buffer::allocate(run_->bytes(buffer), device());
      copy_backs_.push_back({home < 0 ? fresh[i]->data() : run_->data(home), buffer});
    }
  }

  void unbind() override {
    run_->unbind();
    copy_backs_.clear();
    error.reset();
    for (std::unique_ptr<runtime::Buffer>& b : fresh) b.reset();
  }

  bool skips_invariants(std::span<const uint8_t> same) const override { return run_->skips_invariants(same); }
  bool drop_invariants() override { return run_->drop_invariants(); }

  /// A launch that runs out of memory throws BackendError instead of OutOfMemory, which would say that nothing
  /// happened: earlier launches of the plan may have run.
  uint32_t run() override {
    const ir::FlushDenormals zeros(plan_.flushes);
    try {
      const uint32_t bits = run_->run(same_);
      for (const runtime::SlowLaunch& slow : run_->slow_launches())
        runtime::log(1, fmt::format("slow: {}: {}", slow.what, made_by(slow.position)));
      error = run_->take_error();
      for (const auto& [to, from] : copy_backs_)
        runtime::copy(device(), to, device(), run_->data(from), run_->bytes(from));
      return bits;
    } catch (const OutOfMemory& e) { throw BackendError(e.what()); }
  }

 private:
  Device device() const { return executable_plan_->plan().device; }
  static std::string place(const ir::Caller& c) {
    return fmt::format("{} at {}:{}", c.name, c.where.file_name(), c.where.line());
  }
  /// The call that made a position of the program. If unknown, the call for which the plan runs.
  std::string made_by(int position) const {
    const ir::NodeOrigin* o = position >= 0 && static_cast<size_t>(position) < origins_.size()
                                  ? origins_[static_cast<size_t>(position)]
                                  : nullptr;
    return o && !o->call.empty() ? fmt::format("{} at {}:{}", o->call, o->file, o->line) : caller_;
  }

  const CompiledExecutable& plan_;
  const std::shared_ptr<const runtime::ExecutablePlan> executable_plan_;
  const std::unique_ptr<runtime::PlanExecution> run_;
  std::vector<uint64_t> bits_;                  ///< of the arguments
  std::vector<uint8_t> same_;                   ///< of the slots
  std::vector<const ir::NodeOrigin*> origins_;  ///< Bindings::origins
  std::string caller_ = "made outside of calls";
  std::vector<std::pair<void*, int>> copy_backs_;
};

std::unique_ptr<Execution> CompiledExecutable::make_execution() const {
  return std::make_unique<CompiledExecution>(*this, executable_plan);
}

std::unique_ptr<Execution> CompiledExecutable::make_caching_execution(const InvariantInputs& invariant) const {
  // A GPU's error word is known long after its launches, and each run must report an index out of range.
  if (executable_plan->plan().raises_errors && executable_plan->plan().device.kind() == Device::Kind::Cuda)
    return make_execution();
  runtime::Plan plan = hoist_invariants(executable_plan->plan(), invariant);
  if (plan.invariant_launches.empty()) return make_execution();
  if (runtime::logging(3)) runtime::log(3, runtime::to_string(plan));
  return std::make_unique<CompiledExecution>(*this, std::make_shared<const runtime::ExecutablePlan>(std::move(plan)));
}

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
  if (!policy.beam || target != runtime::host_target()) return codegen::generate_source(kernel, target);
  const codegen::NormalizedKernel normalized = codegen::normalize(kernel, target);
  const std::optional<std::vector<codegen::Opt>> found =
      search_opts(scheduled, number, normalized, target, policy.beam);
  if (!found) decided = false;
  return codegen::generate_source(normalized, target, found ? *found : codegen::heuristic(normalized.main, target),
                                  normalized.epilogue_kernel ? codegen::heuristic(*normalized.epilogue_kernel, target)
                                                             : std::vector<codegen::Opt>{});
}

KernelSources write_kernels(const PlanProgram& program, const runtime::Target& target, const OptPolicy& policy) {
  KernelSources out{
      schedule::schedule(program.graph, target, policy.unfused ? schedule::Policy::Unfused : schedule::Policy::Fused),
      {}};
  for (size_t i = 0; i < out.scheduled.kernels.size(); ++i)
    out.sources.push_back(write_kernel(out.scheduled, i, target, policy, out.decided));
  return out;
}

/// Whether an index can be out of range. Everything else in kernels is total.
bool can_raise_index_error(const schedule::PlanGraph& plan) {
  const std::vector<ir::UOp> nodes = ir::topological(values_of(plan));
  return std::any_of(nodes.begin(), nodes.end(),
                     [](ir::UOp n) { return n->op == ir::Op::Gather || n->op == ir::Op::ScatterAdd; });
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
  KernelSources written = write_kernels(program, target, policy);
  runtime::Plan& plan = written.scheduled.plan;
  plan.device = program.graph.outputs[0].value->device;
  plan.raises_errors = can_raise_index_error(program.graph);
  plan.programs = runtime::compile(written.sources, target);
  if (runtime::env().check) check_programs(program.graph, written.scheduled);
  if (!anew && written.decided) runtime::store_plan(key, plan, written.sources, target);
  return std::move(plan);
}

std::shared_ptr<Executable> compile_plan(const PlanProgram& program, const runtime::Hash128& key,
                                         const runtime::Target& target, const OptPolicy& policy) {
  auto out = std::make_shared<CompiledExecutable>(make_plan(program, key, target, policy));
  out->arg_numbers = program.arg_numbers;
  out->arg_types = program.graph.args;

  const auto slots = static_cast<int>(program.graph.slots.size());
  std::vector<uint8_t> met(program.graph.outputs.size());
  for (const StoredValue& v : program.stored) {
    const int buffer = out->executable_plan->plan().outputs[static_cast<size_t>(v.output)];
    const bool first = !std::exchange(met[static_cast<size_t>(v.output)], true);
    // The scheduler chose the place of the first of equal values; it may not be its home.
    out->targets.push_back({v.position, !first ? v.home : buffer < slots ? buffer : -1});
    out->buffers.push_back(buffer);
  }
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
