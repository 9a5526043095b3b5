// Claims, the run, and storing its results.
#include "tensor/eval/in_flight.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "interp/interpreter.h"
#include "ir/denormals.h"
#include "runtime/base/counters.h"
#include "runtime/base/fault_injection.h"
#include "runtime/base/fork.h"
#include "tensor/core/cell.h"
#include "tensor/eval/run_error.h"

namespace sinter::tensor {
namespace {

/// Most bytes that the sources of an index tensor may have, to be held until a GPU reports whether an index was out of
/// range. At most 64 plans in a row wait for that report (ir/deferred_error.cpp).
constexpr size_t kMaxHeld = size_t{8} << 20;

/// All plans in flight. A thread that needs a claimed node waits until one completes. Written under the graph's mutex.
struct InFlightRegistry {
  std::atomic<uint64_t> completed{0};  ///< counts completions that had waiters
  size_t waiting = 0;                  ///< number of waiting threads
  size_t woken = 0;                    ///< waiters that were notified and have not reentered the graph
  std::vector<InFlightPlan*> plans;

  static InFlightRegistry& get() {
    static InFlightRegistry* all = new InFlightRegistry;
    return *all;
  }
  InFlightRegistry() { runtime::call_in_child(complete_orphans); }
  static void complete_orphans();
  void complete(InFlightPlan* plan) {
    std::erase(plans, plan);
    if (!waiting) return;
    woken = waiting;
    ++completed;
    completed.notify_all();
  }
  /// Inside the GraphScope in which the claim was seen, so the plan cannot have completed in between.
  void wait() {
    if (woken) {  // the woken threads hold what keeps others from progress
      const GraphPause pause;
      std::this_thread::yield();
      return;
    }
    const uint64_t seen = completed;
    ++waiting;
    {
      const GraphPause pause;
      completed.wait(seen);
    }
    --waiting;
    --woken;
  }
};

/// In a forked child: completes the plans of threads that do not exist there. fork() waited for their launches.
void InFlightRegistry::complete_orphans() {
  InFlightRegistry& all = get();
  const GraphScope scope;
  all.waiting = all.woken = 0;
  for (InFlightPlan* plan : std::vector(all.plans)) {
    if (plan->thread() == std::this_thread::get_id()) continue;
    try {
      plan->complete();
    } catch (...) {
      // The error is recorded in the storage that the plan was to fill.
    }
  }
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) { return e.what(); } catch (...) {
    return "a launch failed";
  }
}

}  // namespace

void InFlightPlan::hold(Storage& memory) {
  slots_.push_back(&memory);
  memory.retain();
  ++memory.owners;
}

void InFlightPlan::claim(UOp node, int32_t value) {
  stored_.push_back({node, value});
  TensorGraph::get().retain(node);
  node->state.claimed = true;
}

void InFlightPlan::register_in_flight() {
  for (const plan::StoreTarget& t : targets())
    if (t.home >= 0) on_overwrite(*slot(t.home));
  InFlightRegistry::get().plans.push_back(this);
}

void InFlightPlan::run() noexcept {
  try {
    runtime::fire_hook(runtime::fault_injection().before_launch);
    const FlushDenormals zeros(entry_.flushes);
    error_bits_ = execution_.run();
  } catch (const OutOfMemory&) {
    error_ = std::current_exception();
    unchanged_ = true;
  } catch (...) { error_ = std::current_exception(); }
}

void InFlightPlan::complete() {
  TensorGraph& g = TensorGraph::get();
  std::shared_ptr<DeferredError> notice;
  if (!error_) try {
      // May query the device, which may be lost. The claims are released in any case.
      notice = std::move(read_).notice(execution_, error_bits_, [this] { return error_reporter(); });
    } catch (...) { error_ = std::current_exception(); }
  if (!unchanged_) store(notice);
  for (const auto& [n, t] : stored_) {
    n->state.claimed = false;
    g.release(n);
  }
  for (Storage* s : slots_) {
    --s->owners;
    s->release();
  }
  InFlightRegistry::get().complete(this);
  if (error_) std::rethrow_exception(error_);
}

void InFlightPlan::wait() { InFlightRegistry::get().wait(); }

bool InFlightPlan::waiters_waking() { return InFlightRegistry::get().woken; }

int InFlightPlan::count_holders(const Storage& memory) {
  int count = 0;
  for (const InFlightPlan* f : InFlightRegistry::get().plans)
    count += static_cast<int>(std::ranges::count(f->slots_, &memory));
  return count;
}

void InFlightPlan::store(const std::shared_ptr<DeferredError>& notice) {
  TensorGraph& g = TensorGraph::get();
  std::string text;
  if (error_) text = text_of(error_);
  InlineVector<Storage*, 4> memory;
  memory.reserve(targets().size());
  for (size_t t = 0; t < targets().size(); ++t) {
    const int32_t home = targets()[t].home;
    memory.push_back(home >= 0 ? slot(home) : execution_.fresh[t].release());
    memory.back()->error = text;
    memory.back()->deferred_error = notice;
  }
  for (const auto& [n, t] : stored_) g.attach_storage(n, memory[t]);
  for (const auto& [n, t] : stored_) g.on_stored(n);
}

InFlightRealization::InFlightRealization(const plan::PlanInstance& instance)
    : InFlightPlan(*instance.execution, *instance.entry) {
  const plan::CanonicalProgram& plan = instance.program;
  for (const plan::StorageUse& s : plan.storages) hold(*s.storage);
  for (const plan::Position& p : plan.positions)
    if (p.slot >= 0) read(*p.node->storage());
  for (size_t i = 0; i < plan.nodes.size(); ++i)
    if (const int32_t t = instance.entry->target_of[plan.position_of[i]]; t >= 0) claim(plan.nodes[i], t);
  register_in_flight();
  for (const plan::StoreTarget& t : targets())
    if (plan.positions[t.position].home >= 0)
      runtime::count(t.home >= 0 ? runtime::counters().in_place : runtime::counters().relocated);
}

ErrorReporter InFlightRealization::error_reporter() const {
  std::vector<UOp> values;
  for (const auto& [n, t] : stored()) values.push_back(n);
  const auto intact = [&](UOp n) {
    return std::none_of(targets().begin(), targets().end(),
                        [&](const plan::StoreTarget& t) { return t.home >= 0 && slot(t.home) == n->storage(); });
  };
  return make_error_reporter(values, intact, raised_errors() ? std::numeric_limits<size_t>::max() : kMaxHeld);
}

}  // namespace sinter::tensor
