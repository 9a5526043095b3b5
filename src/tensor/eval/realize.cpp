// One call of realize(): split by device, prepare, switch cells, claim, launch, store.
#include "tensor/eval/realize.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ir/contains.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "plan/plan_lookup.h"
#include "runtime/base/counters.h"
#include "runtime/base/env.h"
#include "runtime/base/fault_injection.h"
#include "runtime/base/fork.h"
#include "runtime/program/program.h"
#include "sinter/debug.h"
#include "tensor/core/cell_version.h"
#include "tensor/eval/anomaly.h"
#include "tensor/eval/in_flight.h"
#include "tensor/eval/recompile_notice.h"
#include "tensor/eval/split_by_device.h"
#include "tensor/eval/step_commit.h"

namespace sinter {
namespace tensor {
namespace {

using plan::PlanInstance;

/// The base of a reshape: it has the same elements in the same order, so both share memory (SEMANTICS H3). The walk
/// stops at a reshape that a plan in flight stores: it gets memory of its own, and is waited for (H6).
UOp base_of(UOp n) {
  while (!n->storage() && !n->state.claimed && (n->op == Op::Reshape || n->op == Op::Detach)) n = n->src[0];
  return n;
}

/// Holds nodes while others may use the graph.
class ScopedHold {
 public:
  explicit ScopedHold(std::span<const UOp> nodes) : nodes_(nodes.begin(), nodes.end()) {
    for (UOp n : nodes_) TensorGraph::get().retain(n);
  }
  ~ScopedHold() {
    for (UOp n : nodes_) TensorGraph::get().release(n);
  }
  ScopedHold(const ScopedHold&) = delete;
  ScopedHold& operator=(const ScopedHold&) = delete;
  const Sources& nodes() const { return nodes_; }

 private:
  const Sources nodes_;
};

/// Whether computing n computes one of `nodes`.
bool depends_on_any(UOp n, const Sources& nodes) {
  const std::vector<UOp> way = topological(std::span<const UOp>(&n, 1), [](UOp m) { return !m->storage(); });
  return std::ranges::any_of(way, [&](UOp m) { return contains(nodes, m); });
}

}  // namespace

void share_base_memory(UOp n) {
  Storage* memory = base_of(n)->storage();
  if (n->storage() || !memory || !memory->error.empty()) return;
  TensorGraph::get().attach_storage(n, memory);
  TensorGraph::get().on_stored(n);
}

Sources roots_for(std::span<const UOp> asked) {
  Sources roots;
  for (UOp n : asked) {
    UOp base = base_of(n);
    if (const Storage* memory = base->storage(); memory && memory->error.empty()) continue;
    roots.push_back(is_movement(base->op) || info(base->op).cls == OpClass::Leaf ? n : base);
  }
  return roots;
}

/// One call of realize(). It may take several attempts: after a wait, a compilation, or plans that are not the last,
/// everything is examined again.
class Realization {
 public:
  Realization(std::span<const UOp> asked, StepCommit* commit, IncludeAssigned include)
      : held_(asked),
        asked_(held_.nodes()),
        commit_(commit),
        include_assigned_(include),
        executor_(debug::executor()) {}

  void run() {
    while (!attempt()) {}
    settle_reshapes();
  }

 private:
  struct DevicePlan {
    std::unique_ptr<PlanInstance> instance;
    std::optional<InFlightRealization> in_flight = {};
  };
  using Plans = std::list<DevicePlan>;  // std::list: plans in flight must not move

  /// False: try again.
  bool attempt() {
    TensorGraph::get().release_pool();
    settle_reshapes();
    asked_.erase(std::remove_if(asked_.begin(), asked_.end(), [](UOp n) { return n->storage() != nullptr; }),
                 asked_.end());
    if (asked_.empty()) {
      if (commit_) commit_->switch_cells();  // the earlier plans have stored all versions
      return true;
    }
    plan::Request request;
    request.lean = lean_;
    request.roots = captured_ ? asked_ : roots_for(asked_);
    request.kept = held_.nodes();
    if (commit_) request.dying_refs = commit_->dying_refs();
    std::vector<UOp> assigned = assigned_versions([&](const Cell& c) { return commit_ && commit_->switches(&c); });
    if (include_assigned_ == IncludeAssigned::Independent)
      std::erase_if(assigned, [&](UOp n) { return depends_on_any(n, asked_); });
    const bool more = with_assigned_ && !assigned.empty();
    if (more) request.roots.insert(request.roots.end(), assigned.begin(), assigned.end());
    bool last = true;
    Plans plans;
    try {
      plans = prepare(request, last);
    } catch (const Error&) {
      if (!more) throw;
      with_assigned_ = false;  // retry once without the versions nobody asked for; reading those reports the error
      return false;
    }
    if (plans.empty()) return false;
    if (Observer* observer = Observer::current()) observer->on_plan(*plans.front().instance, last && plans.size() == 1);
    std::list<AnomalySearch> searches;
    if (debug::detect_anomaly::enabled())
      for (const DevicePlan& p : plans) searches.emplace_back(*p.instance);
    if (last && !with_assigned_) forget_assigned_versions();
    if (last && commit_) commit_->switch_cells();
    try {
      run_plans(plans);
    } catch (const OutOfMemory&) {
      // Only the interpreter allocates as it runs. What it did not store is unchanged.
      if (executor_ != debug::Executor::Interpreter) throw;
      if (spares(plans))
        lean_ = true;
      else if (more)
        with_assigned_ = false;
      else
        throw;
      return false;
    }
    for (DevicePlan& p : plans) plan::keep_recent(std::move(p.instance));
    forget_stored_versions();
    for (const AnomalySearch& search : searches) search.check();
    return last;
  }

  /// Empty if the request has to be made again. `last`: these plans compute everything.
  Plans prepare(const plan::Request& request, bool& last) {
    if (runtime::env().check) verify_tensor(request.roots, "tensor");
    Plans plans;
    plan::PlanLookup whole = plan::lookup_plan(request, executor_);
    if (!std::holds_alternative<plan::SpansDevices>(whole)) {
      if (!add(plans, std::move(whole), request.roots)) return {};
    } else {
      const DeviceSplit split = split_by_device(request.roots);
      last = split.last;
      for (const std::vector<UOp>& roots : split.plans) {
        // Plans before the last ones end no reference: the last ones read the same values.
        plan::Request part{roots, last ? request.dying_refs : Sources(), last ? request.kept : Sources(), split.copies,
                           request.lean};
        if (!add(plans, plan::lookup_plan(part, executor_), request.roots)) return {};
      }
    }
    for (const DevicePlan& p : plans)
      if (!ready(*p.instance, request.roots)) return {};
    for (const DevicePlan& p : plans) runtime::count(runtime::counters().plans_known, p.instance->from_recent);
    if (!bind(plans)) return {};
    runtime::count(runtime::counters().plans, plans.size());
    return plans;
  }

  /// False if a claimed node was waited for: others had the graph meanwhile.
  static bool add(Plans& plans, plan::PlanLookup&& found, std::span<const UOp> roots) {
    if (std::holds_alternative<plan::NodeClaimed>(found)) {
      const ScopedHold keep(roots);
      InFlightPlan::wait();
      return false;
    }
    auto* instance = std::get_if<std::unique_ptr<PlanInstance>>(&found);
    if (!instance) throw InternalError("a part of a program that spans devices does too");
    plans.emplace_back(std::move(*instance));
    return true;
  }

  /// False if memory does not suffice for all that the plans store, but does with fewer stores. The next attempt is
  /// lean.
  bool bind(Plans& plans) {
    for (bool again = true;; again = false) try {
        for (DevicePlan& p : plans) plan::bind(*p.instance);
        return true;
      } catch (const OutOfMemory&) {
        for (DevicePlan& p : plans) plan::unbind(*p.instance);
        if (again && kHooks.on_out_of_memory()) continue;
        if (!spares(plans)) throw;
        lean_ = true;
        return false;
      }
  }
  static bool spares(const Plans& plans) {
    return std::ranges::any_of(plans, [](const DevicePlan& p) { return p.instance->entry->spare_stores; });
  }

  /// Not for a jitted function: its results need memory of their own, since replays look at no node.
  void settle_reshapes() const {
    if (!captured_)
      for (UOp n : asked_) share_base_memory(n);
  }

  /// False if the plan was built: others had the graph meanwhile.
  bool ready(const PlanInstance& instance, std::span<const UOp> roots) {
    if (instance.entry) return true;
    plan::PlanBuild build = plan::build_plan(instance, executor_);
    const ScopedHold keep(roots);
    RecompileNotice notice(instance);
    const auto start = std::chrono::steady_clock::now();
    std::shared_ptr<const plan::PlanEntry> entry;
    {
      const runtime::GraphUnlockedScope outside;
      runtime::fire_hook(runtime::fault_injection().while_compiling);
      try {
        entry = build.run();
      } catch (const runtime::DialectMismatch&) {
        return false;  // the next attempt plans for another Target
      }
    }
    plan::PlanCache& cache = plan::PlanCache::get();
    if (!cache.find(instance.plan_key)) cache.insert(instance.plan_key, std::move(build.is_argument), std::move(entry));
    if (executor_ != debug::Executor::Interpreter)
      std::move(notice).record_compile(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return false;
  }

  /// Throws the error of the first plan that failed. The others run and complete all the same.
  static void run_plans(Plans& plans) {
    bool is_short = !runtime::fault_injection().before_launch;  // the hook checks that others may use the graph
    for (DevicePlan& p : plans) {
      is_short &= p.instance->execution->is_short;
      p.in_flight.emplace(*p.instance);
    }
    {
      std::optional<runtime::GraphUnlockedScope> outside;
      if (!is_short) outside.emplace();
      for (DevicePlan& p : plans) p.in_flight->run();
    }
    std::exception_ptr error;
    for (DevicePlan& p : plans) try {
        p.in_flight->complete();
      } catch (...) {
        if (!error) error = std::current_exception();
      }
    if (error) std::rethrow_exception(error);
  }

  const ScopedHold held_;  ///< all that was asked for
  Sources asked_;          ///< those without storage so far
  StepCommit* commit_;
  const IncludeAssigned include_assigned_;
  const debug::Executor executor_;
  const bool captured_ = Observer::current() != nullptr;
  bool with_assigned_ = true;
  bool lean_ = false;
};

void realize(std::span<const UOp> asked, StepCommit* commit, IncludeAssigned include) {
  if (Observer* observer = Observer::current()) observer->on_read(asked);
  Realization(asked, commit, include).run();
}

}  // namespace tensor

inline namespace v0 {

using namespace tensor;

void realize_all(std::span<const Tensor> tensors, Loc where) {
  const Call call("realize", where);
  auto nodes = mapped<Sources>(tensors, [&](const Tensor& t) { return node_of(t); });
  tensor::realize(nodes);
}
void realize_all(const Arg& first, std::span<const Tensor> others) {
  const Call call("realize", first.where());
  if (!first.is_tensor()) usage_error("{} is a number, which has nothing to compute; give tensors", first.real());
  std::vector<Tensor> all{Tensor(first.cell())};
  all.insert(all.end(), others.begin(), others.end());
  realize_all(all, first.where());
}
const Tensor& Tensor::realize(Loc where) const {
  realize_all({this, 1}, where);
  return *this;
}
Tensor& Tensor::realize(Loc where) {
  realize_all({this, 1}, where);
  return *this;
}

}  // namespace v0
}  // namespace sinter
