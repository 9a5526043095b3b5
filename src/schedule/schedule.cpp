// The only list of the passes from a plan graph to its kernels.
#include "schedule/schedule.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "codegen/normalize/normalize.h"
#include "ir/dump.h"
#include "ir/verify.h"
#include "runtime/base/counters.h"
#include "runtime/base/env.h"
#include "runtime/base/log.h"
#include "runtime/exec/step_cost.h"
#include "schedule/fusion/hazards.h"
#include "schedule/graph/rebuild_plan.h"
#include "schedule/interpret_plan.h"
#include "schedule/lower/dedup_kernels.h"
#include "schedule/lower/kernel_passes.h"
#include "schedule/lower/kernel_work.h"
#include "schedule/lower/launch_order.h"
#include "schedule/lower/opaque_steps.h"
#include "schedule/lower/plan_memory.h"
#include "schedule/lower/rangeify.h"
#include "schedule/lower/sections.h"
#include "schedule/simplify/choose_reductions.h"
#include "schedule/simplify/fused_reductions.h"
#include "schedule/simplify/mma_factors.h"
#include "schedule/simplify/online_softmax.h"
#include "schedule/simplify/scan_blocks.h"
#include "schedule/simplify/scatter_blocks.h"
#include "schedule/simplify/simplify.h"

namespace sinter::schedule {
namespace {

void check(std::span<const UOp> roots, std::string_view pass) {
  if (runtime::env().check) ir::verify_plan(roots, pass);
}

void show(std::string_view what, std::span<const UOp> roots) {
  if (runtime::logging(5)) runtime::log(5, fmt::format("-- {}\n{}", what, ir::dump(roots)));
}

/// Runs a pass over the plan graph. Logs the graph if the pass changed it, and verifies it.
template <class Pass>
void step(PlanGraph& plan, std::string_view pass, Pass run) {
  const std::vector<UOp> before = values_of(plan);
  run();
  const std::vector<UOp> after = values_of(plan);
  check(after, pass);
  if (after != before) show(fmt::format("plan after {}", pass), after);
}

/// Unmarks versions that cannot be written in place: they become whole values. Returns whether any was marked.
bool clear_boxed(std::vector<bool>& boxed, const std::vector<int>& outputs) {
  bool lost = false;
  for (int output : outputs) {
    lost = lost || boxed[output];
    boxed[output] = false;
  }
  return lost;
}

/// Fusion nodes whose in-place stores have no cyclic order. Retries with fewer boxed versions until none is left over.
FusionGraph ordered_fusion_graph(PlanGraph& plan, const PlanGraph& versions, std::vector<bool>& boxed,
                                 const runtime::Target& target) {
  for (;;) {
    plan = versions;
    step(plan, "versions", [&] { lower_versions(plan, boxed); });
    if (!has_mma_steps(target)) step(plan, "no tf32", [&] { drop_tf32_marks(plan); });
    step(plan, "slices", [&] { forward_slices(plan); });
    step(plan, "sorted values", [&] { sort_values_alone(plan, target); });
    step(plan, "unit axes", [&] { drop_unit_axes(plan); });
    step(plan, "nested sums", [&] { merge_nested_sums(plan); });
    step(plan, "label sums", [&] { sum_by_labels(plan, target); });
    step(plan, "deferred division", [&] { defer_division(plan); });
    step(plan, "repeats", [&] { store_repeats(plan); });
    step(plan, "online softmax", [&] { roll_softmax(plan, target); });
    step(plan, "scatter blocks", [&] { cut_scatters(plan); });
    step(plan, "fused reductions", [&] { fuse_reductions(plan); });
    step(plan, "reductions", [&] { choose_reductions(plan, target); });
    if (has_mma_steps(target)) step(plan, "tf32 chosen", [&] { drop_tf32_marks(plan); });
    step(plan, "shared factors", [&] { pack_shared_factors(plan, target); });
    step(plan, "scan blocks", [&] { cut_scans(plan); });
    FusionGraph nodes = build_fusion_graph(plan, prices_for(target));
    if (!clear_boxed(boxed, order_in_place(nodes))) return nodes;
  }
}

int number_of(const Var& var, const std::vector<Var>& vars) {
  return static_cast<int>(std::ranges::find(vars, var) - vars.begin());
}

/// The second half: kernels and steps.
class PlanWriter {
 public:
  PlanWriter(const PlanGraph& plan, const Partition& p, const runtime::Target& target)
      : plan_(plan),
        p_(p),
        target_(target),
        prices_(prices_for(target)),
        bounds_(ir::mapped(plan.vars, [](const Var& v) { return v.max(); })),
        placement_(place_values(plan, p, out_.plan)),
        rangeifier_(p, placement_) {}

  void launch(const std::vector<int>& kernels) {
    std::vector<std::pair<int, std::vector<KernelInstance>>> long_ones;  // kernels of several steps
    size_t before = out_.plan.steps.size();
    for (int k : kernels) {
      const std::vector<int>& outer = p_.kernels[k].outer;
      const bool idle = std::ranges::any_of(outer, [&](int a) { return p_.space.bound(a) == 0; });
      if (idle) continue;  // it stores nothing
      if (is_opaque(p_, k))
        long_ones.emplace_back(k, opaque_steps(plan_, p_, placement_, k, target_, out_.plan));
      else
        add(k);
    }
    for (size_t s = 0;; ++s) {
      for (auto& [k, steps] : long_ones)
        if (s < steps.size()) {
          const FusionGroup& kernel = p_.kernels[k];
          add(std::move(steps[s]), kernel.time / static_cast<double>(steps.size()), -1, position_of(kernel));
        }
      if (out_.plan.steps.size() == before) break;
      out_.plan.launches.push_back(static_cast<int>(out_.plan.steps.size() - before));
      before = out_.plan.steps.size();
    }
  }

  /// Empty if `invariant_scatters` is not: the indices of these SCATTERs must be stored first.
  KernelSchedule take_schedule() {
    if (!invariant_scatters.empty()) return {};
    share_offsets(out_.kernels, out_.plan);
    if (target_.cuda()) collapse_kernels();
    runtime::set_lifetimes(out_.plan);
    if (runtime::logging(3)) runtime::log(3, to_string(out_.plan));
    return std::move(out_);
  }

  std::vector<UOp> invariant_scatters;

 private:
  void add(int k) {
    KernelInstance instance = rangeifier_.kernel(k);
    if (instance.invariant_scatter) invariant_scatters.push_back(instance.invariant_scatter);
    if (!invariant_scatters.empty()) return;  // keep collecting from the remaining kernels
    const double time = p_.kernels[k].time;
    const int position = position_of(p_.kernels[k]);
    if (target_.cuda()) {  // a launch costs more than a section; neighboring threads would take neighboring phases
      add(std::move(instance), time, -1, position);
      return;
    }
    std::vector<KernelInstance> sections = sections_.of(std::move(instance));
    const auto count = sections.size();
    for (KernelInstance& section : sections) {
      codegen::collapse_axes(section.kernel);
      split_polyphase(section.kernel);
      add(std::move(section), time / static_cast<double>(count), count > 1 ? k : -1, position);
    }
  }

  /// After share_offsets(), which tells constants of outer dims from those of the innermost: then all may be of one
  /// dim.
  void collapse_kernels() {
    for (codegen::Kernel& kernel : out_.kernels) codegen::collapse_axes(kernel);
    for (runtime::PlanStep& step : out_.plan.steps) {
      const std::vector<Dim>& outer = out_.kernels[static_cast<size_t>(step.program)].outer;
      if (outer.size() == step.outer.size()) continue;
      std::vector<runtime::PlanDim> symbolic;  // these stay as they are
      std::ranges::copy_if(step.outer, std::back_inserter(symbolic), [](const auto& d) { return d.var >= 0; });
      auto next = symbolic.begin();
      step.outer =
          ir::mapped(outer, [&](const Dim& d) { return d.symbolic() ? *next++ : runtime::PlanDim{d.value()}; });
    }
  }

  /// The program position of the most expensive node.
  int position_of(const FusionGroup& kernel) const {
    int position = -1;
    double longest = -1;
    for (const Member& m : kernel.members) {
      const FusionNode& node = p_.graph.nodes[m.node];
      const auto known = plan_.positions.find(node.uop.get());
      if (known == plan_.positions.end() || node.own <= longest) continue;
      position = known->second;
      longest = node.own;
    }
    return position;
  }

  /// `whole` and `position` are PlanStep::section_of and PlanStep::position.
  void add(KernelInstance instance, double time, int whole, int position) {
    if (runtime::env().check)
      for (UOp sink : {instance.kernel.sink, instance.kernel.epilogue_sink})
        if (sink) ir::verify_kernel(sink, "rangeify");
    runtime::PlanStep step;
    for (const Var& v : instance.kernel.vars) step.vars.push_back(number_of(v, plan_.vars));
    for (const Dim& d : instance.kernel.outer) step.outer.push_back(plan_dim(d, plan_.vars));
    normalize_vars(instance.kernel);
    const bool known = find_duplicate(instance.kernel, step.program);
    step.buffers = std::move(instance.buffers);
    step.args = std::move(instance.args);
    step.writes = std::move(instance.writes);
    step.time = time;
    step.section_of = whole;
    step.position = position;
    if (!known) {
      show(fmt::format("{} after rangeify", instance.kernel.name), {&instance.kernel.sink, 1});
      if (instance.kernel.epilogue_sink)
        show(instance.kernel.name + "_finish after rangeify", {&instance.kernel.epilogue_sink, 1});
      out_.plan.work.push_back(work_of(instance.kernel));
      out_.kernels.push_back(std::move(instance.kernel));
    }
    step.price = std::max(time, transfer_time(step));
    out_.plan.steps.push_back(std::move(step));
  }

  /// Time in ns to read and write what a step moves, with variables at their bounds.
  double transfer_time(const runtime::PlanStep& step) const {
    double ns = 0;
    for (const double bytes : runtime::bytes_moved(out_.plan, step, bounds_))
      ns += prices_.transfer(static_cast<int64_t>(bytes));
    return ns;
  }

  /// Sets `number` to that of an equal kernel and returns true, or to the number of the new kernel.
  bool find_duplicate(const codegen::Kernel& kernel, int& number) {
    const uint64_t hash = hash_kernel(kernel);
    for (auto [it, last] = kernel_by_hash_.equal_range(hash); it != last; ++it) {
      number = it->second;
      if (same_kernel(out_.kernels[number], kernel)) return true;
    }
    number = static_cast<int>(out_.kernels.size());
    kernel_by_hash_.emplace(hash, number);
    return false;
  }

  const PlanGraph& plan_;
  const Partition& p_;
  const runtime::Target& target_;
  const Prices prices_;
  const std::vector<int64_t> bounds_;  ///< of the plan's variables
  KernelSchedule out_;
  Placement placement_;
  Rangeifier rangeifier_;
  SectionSplit sections_;
  std::unordered_multimap<uint64_t, int> kernel_by_hash_;
};

/// Materializes the indices of these SCATTERs.
void store_indices(PlanGraph& plan, const std::vector<UOp>& scatters) {
  const std::unordered_set<UOp> these(scatters.begin(), scatters.end());
  rebuild(plan, [&](UOp n, const std::vector<UOp>& src) {
    return these.contains(n) ? ir::with_sources(*plan.graph, n, {src[0], ir::contiguous(src[1]), src[2]}) : UOp();
  });
}

/// Never destroyed (SEMANTICS V7).
std::vector<ScheduleObserver*>& observers() {
  static auto& all = *new std::vector<ScheduleObserver*>;
  return all;
}

}  // namespace

ScheduleObserver::ScheduleObserver(bool all) : all_(all) { observers().push_back(this); }
ScheduleObserver::~ScheduleObserver() { std::erase(observers(), this); }
bool observers_bypass_cache() {
  return std::ranges::any_of(observers(), [](const ScheduleObserver* w) { return w->sees_all(); });
}

Partition partition_plan(PlanGraph& plan, const runtime::Target& target, Policy policy) {
  runtime::count(runtime::counters().partition_runs);
  const std::vector<UOp> given = values_of(plan);
  check(given, "plan lookup");
  show("plan", given);
  const Prices prices = prices_for(target);
  const PlanGraph versions = plan;
  for (std::vector<bool> boxed = box_candidates(plan);;) {
    Partition p = partition(ordered_fusion_graph(plan, versions, boxed, target), prices, policy);
    if (clear_boxed(boxed, settle_in_place(p))) continue;
    verify_partition(p);
    if (runtime::logging(3)) runtime::log(3, to_string(p));
    return p;
  }
}

KernelSchedule schedule(PlanGraph plan, const runtime::Target& target, Policy policy) {
  for (ScheduleObserver* w : observers()) w->before_schedule(plan, policy);
  for (;;) {
    const Partition p = partition_plan(plan, target, policy);
    PlanWriter writer(plan, p, target);
    for (const std::vector<int>& kernels : launch_order(p, prices_for(target), policy)) writer.launch(kernels);
    KernelSchedule out = writer.take_schedule();
    if (writer.invariant_scatters.empty()) {
      if (runtime::env().check) check_values(plan, out);
      for (ScheduleObserver* w : observers()) w->after_schedule(plan, p, out, policy);
      return out;
    }
    step(plan, "storing indices", [&] { store_indices(plan, writer.invariant_scatters); });
  }
}

}  // namespace sinter::schedule
