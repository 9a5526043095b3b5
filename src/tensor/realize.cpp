// The way of one plan: prepare, claim, switch, launch, settle.
#include "tensor/realize.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/counters.h"
#include "runtime/faults.h"
#include "runtime/fork.h"
#include "runtime/interpreter.h"
#include "runtime/program.h"
#include "schedule/parametrise.h"
#include "sinter/debug.h"
#include "tensor/commit.h"
#include "tensor/index_fault.h"
#include "tensor/version.h"

namespace sinter {
namespace tensor {
namespace {

using ir::Storage;
using ir::TensorGraph;
using ir::UOp;
using runtime::Buffer;
using schedule::Parametrised;

class Flight;

/// Plans in flight: who needs a claimed node waits until one has landed. `landed` is counted under both mutexes.
struct Flights {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t landed = 0;
  std::vector<Flight*> in_air;  ///< guarded by the graph's mutex

  static Flights& get() {
    static Flights* all = new Flights;
    return *all;
  }
  Flights() {
    runtime::hold_at_fork(mutex);
    runtime::call_in_child(land_orphans);
  }
  static void land_orphans();
  void land(Flight* flight) {
    std::erase(in_air, flight);
    const std::lock_guard lock(mutex);
    ++landed;
    changed.notify_all();
  }
  /// Inside a GraphScope, in which the claim was seen: it cannot have landed in between.
  void wait() {
    const uint64_t seen = landed;
    const ir::GraphPause pause;
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return landed != seen; });
  }
};

/// Calls a test's hook, if there is one, for the last time.
void once(std::function<void()>& hook) {
  if (hook) std::exchange(hook, {})();
}

/// Keeps nodes while others may use the graph.
class Keep {
 public:
  explicit Keep(std::vector<UOp> nodes) : nodes_(std::move(nodes)) {
    for (UOp n : nodes_) TensorGraph::get().retain(n);
  }
  ~Keep() {
    for (UOp n : nodes_) TensorGraph::get().release(n);
  }
  Keep(const Keep&) = delete;
  Keep& operator=(const Keep&) = delete;

 private:
  std::vector<UOp> nodes_;
};

/// A plan between its preparation and the moment when its values stand in their nodes. It holds what it reads and
/// stores, so that no other plan writes it in place.
class Flight {
 public:
  Flight(const Parametrised& program, std::unique_ptr<schedule::Execution> run)
      : plan_(program.executable), run_(std::move(run)) {
    const auto& targets = program.executable->targets;
    std::vector<int32_t> target_of(program.plan.positions.size(), -1);
    for (size_t t = 0; t < targets.size(); ++t)
      target_of[static_cast<size_t>(targets[t].position)] = static_cast<int32_t>(t);
    for (size_t i = 0; i < program.plan.nodes.size(); ++i)
      if (const int32_t t = target_of[static_cast<size_t>(program.plan.position_of[i])]; t >= 0)
        stored_.push_back({program.plan.nodes[i], t});
    for (const schedule::StorageUse& s : program.plan.storages) {
      s.storage->retain();
      ++s.storage->owners;
      slots_.push_back(s.storage);
    }
    for (const schedule::Position& p : program.plan.positions)
      if (p.slot >= 0 && p.node->storage()->notice && !p.node->storage()->notice->empty())
        notice_ = p.node->storage()->notice;
    for (const schedule::Landing& t : targets) {
      homes_.push_back(t.home);
      if (program.plan.positions[static_cast<size_t>(t.position)].home < 0) continue;
      runtime::count(t.home >= 0 ? runtime::counters().in_place : runtime::counters().moved);
    }
    for (const auto& [n, t] : stored_) {
      TensorGraph::get().retain(n);
      n->state.claimed = true;
    }
    Flights::get().in_air.push_back(this);
  }

  std::thread::id thread() const { return thread_; }

  /// Without the graph's mutex. Errors are kept for land().
  void run() noexcept {
    try {
      once(runtime::faults().before_launch);
      index_error_ = run_->run() & runtime::kIndexError;
    } catch (const OutOfMemory&) {
      error_ = std::current_exception();
      unchanged_ = true;
    } catch (...) { error_ = std::current_exception(); }
  }

  /// Gives the nodes their storage; throws what the launch threw. If that left all memory as it was, the nodes are still
  /// to be computed.
  void land() {
    TensorGraph& g = TensorGraph::get();
    if (index_error_) notice_ = std::make_shared<std::string>(fault());
    if (!unchanged_) store(g);
    for (const auto& [n, t] : stored_) {
      n->state.claimed = false;
      g.release(n);
    }
    for (Storage* s : slots_) {
      --s->owners;
      s->release();
    }
    Flights::get().land(this);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::string fault() const {
    std::vector<UOp> values;
    for (const auto& [n, t] : stored_) values.push_back(n);
    return index_fault(values, [&](UOp n) {
      return std::none_of(homes_.begin(), homes_.end(),
                          [&](int32_t home) { return home >= 0 && slots_[static_cast<size_t>(home)] == n->storage(); });
    });
  }
  void store(TensorGraph& g) {
    std::string text;
    if (error_) text = text_of(error_);
    std::vector<Storage*> memory;
    for (size_t t = 0; t < homes_.size(); ++t) {
      memory.push_back(homes_[t] >= 0 ? slots_[static_cast<size_t>(homes_[t])] : run_->fresh[t].release());
      memory.back()->error = text;
      memory.back()->notice = notice_;
    }
    for (const auto& [n, t] : stored_) g.own(n, memory[static_cast<size_t>(t)]);
    for (const auto& [n, t] : stored_) g.settle(n);
  }
  static std::string text_of(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) { return e.what(); } catch (...) {
      return "a launch failed";
    }
  }

  std::shared_ptr<const schedule::Executable> plan_;  ///< outlives the run, whatever becomes of the cache
  std::unique_ptr<schedule::Execution> run_;
  std::vector<std::pair<UOp, int32_t>> stored_;  ///< nodes, and the stored value of each
  std::vector<Storage*> slots_;
  std::vector<int32_t> homes_;
  std::shared_ptr<std::string> notice_;
  std::exception_ptr error_;
  const std::thread::id thread_ = std::this_thread::get_id();
  bool index_error_ = false;
  bool unchanged_ = false;  ///< the launch failed before it had any effect
};

/// In a child: what other threads had in the air. fork() waited for their launches, and the threads did not come with it.
void Flights::land_orphans() {
  Flights& all = get();
  new (&all.changed) std::condition_variable;  // threads that waited are gone
  const ir::GraphScope scope;
  for (Flight* flight : std::vector(all.in_air)) {
    if (flight->thread() == std::this_thread::get_id()) continue;
    try {
      flight->land();
    } catch (...) {
      // The error stands in what the plan was to store.
    }
  }
}

}  // namespace

/// One call of realize(), which may need several attempts: after a wait or a compilation everything is looked at again.
class Realization {
 public:
  Realization(std::span<const UOp> asked, StepCommit* commit)
      : all_(asked.begin(), asked.end()), keep_(all_), asked_(all_), commit_(commit), executor_(debug::executor()) {}

  void run() {
    while (!attempt()) {}
  }

 private:
  /// False: try again.
  bool attempt() {
    TensorGraph::get().drain();
    std::erase_if(asked_, [](UOp n) { return n->storage() != nullptr; });
    if (asked_.empty()) return true;
    schedule::Request request{asked_, commit_ ? commit_->ending() : std::vector<UOp>(), all_};
    const std::vector<UOp> records = recorded([&](const Cell& c) { return commit_ && commit_->switches(&c); });
    const bool more = with_records_ && !records.empty();
    if (more) request.roots.insert(request.roots.end(), records.begin(), records.end());
    std::unique_ptr<Flight> flight;
    try {
      flight = prepare(request);
    } catch (const Error&) {
      if (!more) throw;
      with_records_ = false;  // once without what nobody asked for; whoever reads those gets the error
      return false;
    }
    if (!flight) return false;
    if (!with_records_) strike_off();
    if (commit_) commit_->switch_cells();
    {
      const runtime::OutsideGraph outside;
      flight->run();
    }
    flight->land();
    forget_stored();
    return true;
  }

  /// Null when others had the graph in between.
  std::unique_ptr<Flight> prepare(const schedule::Request& request) {
    Parametrised program = schedule::parametrise(request, executor_);
    if (program.plan.claimed) {
      const Keep keep(request.roots);
      Flights::get().wait();
      return nullptr;
    }
    if (!program.executable) {
      schedule::Build build = schedule::build_plan(program, executor_);
      const Keep keep(request.roots);
      std::shared_ptr<const schedule::Executable> plan;
      {
        const runtime::OutsideGraph outside;
        once(runtime::faults().while_compiling);
        try {
          plan = build.run();
        } catch (const runtime::DialectChanged&) {
          return nullptr;  // asked again, it is a plan for another Target
        }
      }
      schedule::PlanCache& cache = schedule::PlanCache::get();
      if (!cache.find(program.canonical)) cache.insert(program.canonical, std::move(build.lifted), std::move(plan));
      return nullptr;
    }
    std::unique_ptr<schedule::Execution> run = program.executable->start(schedule::bind(program));
    runtime::count(runtime::counters().plans);
    return std::make_unique<Flight>(program, std::move(run));
  }

  const std::vector<UOp> all_;
  const Keep keep_;
  std::vector<UOp> asked_;  ///< those that have no storage yet
  StepCommit* commit_;
  const debug::Executor executor_;
  bool with_records_ = true;
};

void realize(std::span<const UOp> asked, StepCommit* commit) { Realization(asked, commit).run(); }

void check_readable(UOp node) {
  const Storage& s = *node->storage();
  if (!s.error.empty()) throw BackendError(s.error);
  if (s.notice && !s.notice->empty()) usage_error(std::exchange(*s.notice, {}));
}

}  // namespace tensor

inline namespace v0 {

void realize_all(std::span<const Tensor> tensors, Loc where) {
  const tensor::Call call("realize", where);
  std::vector<ir::UOp> nodes;
  for (const Tensor& t : tensors) nodes.push_back(tensor::node_of(t));
  tensor::realize(nodes);
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
