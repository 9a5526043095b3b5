// Plans on generated kernels: from the cache folder, or schedule, write, compile; then launches on their device.
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
#include "runtime/exec/plan_store.h"
#include "runtime/exec/prepared_plan.h"
#include "runtime/program/host_target.h"
#include "runtime/program/program.h"
#include "schedule/interpret_plan.h"
#include "sinter/error.h"

namespace sinter::schedule {
namespace {

class Compiled final : public Executable {
 public:
  std::unique_ptr<Execution> runs() const override;
  std::unique_ptr<Execution> runs_keeping(const Steady& steady) const override;

  explicit Compiled(runtime::Plan plan) : runnable(std::make_shared<const runtime::Runnable>(std::move(plan))) {}

  std::shared_ptr<const runtime::Runnable> runnable;
  std::vector<DType> arg_types;
  std::vector<int> buffers;  ///< of each target: where the plan computes it
};

class Run final : public Execution {
 public:
  /// `runnable`: the plan's, or the same in another order.
  Run(const Compiled& plan, std::shared_ptr<const runtime::Runnable> runnable)
      : plan_(plan), runnable_(std::move(runnable)), run_(runnable_->runs()) {
    fresh.resize(plan.targets.size());
    keeps = !runnable_->plan().once.empty();
  }

  void bind(const Bindings& bindings) override {
    bits_.clear();
    for (size_t i = 0; i < bindings.args.size(); ++i)
      bits_.push_back(ir::to_bits(plan_.arg_types[i], bindings.args[i]));
    run_->bind(bindings.slots, bindings.vars, bits_);
    brief = run_->brief();
    same_ = bindings.same;
    origins_ = bindings.origins;
    if (const ir::Caller* caller = runtime::logging(1) ? ir::caller() : nullptr) caller_ = place(*caller);
    for (size_t i = 0; i < plan_.targets.size(); ++i) {
      const int buffer = plan_.buffers[i];
      const int home = plan_.targets[i].home;
      if (home == buffer) continue;  // written in place
      if (home < 0 && (fresh[i] = run_->take(buffer))) continue;
      // An equal value of another cell: computed once, then copied.
      if (home < 0) fresh[i] = runtime::Buffer::allocate(run_->bytes(buffer), device());
      copies_.push_back({home < 0 ? fresh[i]->data() : run_->data(home), buffer});
    }
  }

  void let_go() override {
    run_->let_go();
    copies_.clear();
    error.reset();
    for (std::unique_ptr<runtime::Buffer>& b : fresh) b.reset();
  }

  bool spares(std::span<const uint8_t> same) const override { return run_->spares(same); }
  bool forget() override { return run_->forget(); }

  /// A launch that needs memory of its own and does not get it comes too late for OutOfMemory, which says that nothing
  /// happened: others of the plan may have run.
  uint32_t run() override {
    const ir::FlushDenormals zeros(plan_.flushes);
    try {
      const uint32_t bits = run_->run(same_);
      for (const runtime::SlowLaunch& slow : run_->slow())
        runtime::log(1, fmt::format("slow: {}: {}", slow.what, made_by(slow.position)));
      error = run_->take_error();
      for (const auto& [to, from] : copies_) runtime::copy(device(), to, device(), run_->data(from), run_->bytes(from));
      return bits;
    } catch (const OutOfMemory& e) { throw BackendError(e.what()); }
  }

 private:
  Device device() const { return runnable_->plan().device; }
  static std::string place(const ir::Caller& c) {
    return fmt::format("{} at {}:{}", c.name, c.where.file_name(), c.where.line());
  }
  /// The call that made a position of the program; where it is not known, the one for which the plan runs.
  std::string made_by(int position) const {
    const ir::Origin* o = position >= 0 && static_cast<size_t>(position) < origins_.size()
                              ? origins_[static_cast<size_t>(position)]
                              : nullptr;
    return o && !o->call.empty() ? fmt::format("{} at {}:{}", o->call, o->file, o->line) : caller_;
  }

  const Compiled& plan_;
  const std::shared_ptr<const runtime::Runnable> runnable_;
  const std::unique_ptr<runtime::PlanRun> run_;
  std::vector<uint64_t> bits_;              ///< of the arguments
  std::vector<uint8_t> same_;               ///< of the slots
  std::vector<const ir::Origin*> origins_;  ///< Bindings::origins
  std::string caller_ = "made outside of calls";
  std::vector<std::pair<void*, int>> copies_;
};

std::unique_ptr<Execution> Compiled::runs() const { return std::make_unique<Run>(*this, runnable); }

std::unique_ptr<Execution> Compiled::runs_keeping(const Steady& steady) const {
  // A GPU's error word is known long after its launches, and an index out of range is to be said by each run.
  if (runnable->plan().checks && runnable->plan().device.kind() == Device::Kind::Cuda) return runs();
  runtime::Plan plan = keep_steady(runnable->plan(), steady);
  if (plan.once.empty()) return runs();
  if (runtime::logging(3)) runtime::log(3, runtime::to_string(plan));
  return std::make_unique<Run>(*this, std::make_shared<const runtime::Runnable>(std::move(plan)));
}

/// How kernels get their Opts, as it was when the plan was asked for: the environment may change until they are
/// written.
struct How {
  bool unfused;
  int beam;
};

/// The one place where a kernel's Opts are chosen: none, by trying, or by the heuristic. `decided`: false if it could
/// not be tried.
runtime::KernelSource write_kernel(const Scheduled& scheduled, size_t number, const runtime::Target& target,
                                   const How& how, bool& decided) {
  const codegen::Kernel& kernel = scheduled.kernels[number];
  if (how.unfused) return codegen::write(kernel, target, {});
  if (!how.beam || target != runtime::host_target()) return codegen::write(kernel, target);
  const codegen::Prepared prepared = codegen::prepare(kernel, target);
  const std::optional<std::vector<codegen::Opt>> found = search_opts(scheduled, number, prepared, target, how.beam);
  if (!found) decided = false;
  return codegen::write(prepared, target, found ? *found : codegen::heuristic(prepared.main, target),
                        prepared.finish ? codegen::heuristic(*prepared.finish, target) : std::vector<codegen::Opt>{});
}

Written write_kernels(const Lifted& program, const runtime::Target& target, const How& how) {
  Written out{schedule(program.graph, target, how.unfused ? Policy::Unfused : Policy::Fused), {}};
  for (size_t i = 0; i < out.scheduled.kernels.size(); ++i)
    out.sources.push_back(write_kernel(out.scheduled, i, target, how, out.decided));
  return out;
}

/// Whether an index can be out of range: all else that kernels compute is defined.
bool picks(const PlanGraph& plan) {
  const std::vector<ir::UOp> nodes = ir::topological(values_of(plan));
  return std::any_of(nodes.begin(), nodes.end(),
                     [](ir::UOp n) { return n->op == ir::Op::Gather || n->op == ir::Op::ScatterAdd; });
}

/// What decides a plan beside the library: the program, which of its numbers are constants of which value, and how
/// kernels get their Opts.
runtime::Hash128 key_of(const Canonical& canonical, const std::vector<uint8_t>& lifted, const How& how) {
  runtime::HashBuilder fields;
  fields.add(canonical.key.low).add(canonical.key.high).add(static_cast<uint64_t>(how.beam));
  fields.add({reinterpret_cast<const char*>(lifted.data()), lifted.size()});
  for (size_t i = 0; i < lifted.size(); ++i)
    if (!lifted[i]) fields.add(canonical.numbers[i].value.bits());
  return fields.hash();
}

/// Somebody wants to see how plans are made, or has reason to doubt those in the cache folder.
bool decided_anew() {
  return runtime::env().check || runtime::logging(3) || witnessed() || runtime::faults().decide_anew;
}

runtime::Plan make_plan(const Lifted& program, const runtime::Hash128& key, const runtime::Target& target,
                        const How& how) {
  const bool anew = decided_anew();
  if (!anew)
    if (std::optional<runtime::Plan> stored = runtime::load_plan(key, target)) return *std::move(stored);
  Written written = write_kernels(program, target, how);
  runtime::Plan& plan = written.scheduled.plan;
  plan.device = program.graph.outputs[0].value->device;
  plan.checks = picks(program.graph);
  plan.programs = runtime::compile(written.sources, target);
  if (runtime::env().check) check_programs(program.graph, written.scheduled);
  if (!anew && written.decided) runtime::store_plan(key, plan, written.sources, target);
  return std::move(plan);
}

std::shared_ptr<Executable> compile_plan(const Lifted& program, const runtime::Hash128& key,
                                         const runtime::Target& target, const How& how) {
  auto out = std::make_shared<Compiled>(make_plan(program, key, target, how));
  out->arg_numbers = program.arg_numbers;
  out->arg_types = program.graph.args;

  const auto slots = static_cast<int>(program.graph.slots.size());
  std::vector<uint8_t> met(program.graph.outputs.size());
  for (const StoredValue& v : program.stored) {
    const int buffer = out->runnable->plan().outputs[static_cast<size_t>(v.output)];
    const bool first = !std::exchange(met[static_cast<size_t>(v.output)], true);
    // The first of equal values is where the scheduler put it, which may not be the home it could have had.
    out->targets.push_back({v.position, !first ? v.home : buffer < slots ? buffer : -1});
    out->buffers.push_back(buffer);
  }
  return out;
}

}  // namespace

Compilation make_compiled(const Collected& plan, const Liveness& decision, const Canonical& canonical,
                          const std::vector<uint8_t>& lifted, const runtime::Target& target, bool unfused) {
  const auto program = std::make_shared<const Lifted>(lift(plan, decision, canonical, lifted));
  const How how{unfused, runtime::env().beam};
  return {[program, target, how] { return write_kernels(*program, target, how); },
          [program, target, how, key = key_of(canonical, lifted, how)] {
            return compile_plan(*program, key, target, how);
          }};
}

}  // namespace sinter::schedule
