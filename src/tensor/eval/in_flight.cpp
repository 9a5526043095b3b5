// Claims, the run, and what it leaves.
#include "tensor/eval/in_flight.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>

#include "interp/interpreter.h"
#include "runtime/base/counters.h"
#include "runtime/base/fault_injection.h"
#include "runtime/base/fork.h"
#include "tensor/core/cell.h"
#include "tensor/eval/index_error.h"

namespace sinter::tensor {
namespace {

using ir::Storage;
using ir::TensorGraph;
using ir::UOp;

/// Bytes that an index tensor may be made from and be held until a GPU says whether an index was out of range. There
/// are at most 64 plans in a row of which that is not known (ir/deferred_error.cpp).
constexpr size_t kMostHeld = size_t{8} << 20;

/// All plans in flight: who needs a claimed node waits until one has landed. All is written under the graph's mutex.
struct Flights {
  std::atomic<uint64_t> landed{0};  ///< while somebody waited
  size_t waiting = 0;               ///< threads
  size_t woken = 0;                 ///< of these, those that have not come to the graph again
  std::vector<Flight*> in_air;

  static Flights& get() {
    static Flights* all = new Flights;
    return *all;
  }
  Flights() { runtime::call_in_child(land_orphans); }
  static void land_orphans();
  void land(Flight* flight) {
    std::erase(in_air, flight);
    if (!waiting) return;
    woken = waiting;
    ++landed;
    landed.notify_all();
  }
  /// Inside a GraphScope, in which the claim was seen: it cannot have landed in between.
  void wait() {
    if (woken) {  // what they hold keeps others from what has landed
      const ir::GraphPause pause;
      std::this_thread::yield();
      return;
    }
    const uint64_t seen = landed;
    ++waiting;
    {
      const ir::GraphPause pause;
      landed.wait(seen);
    }
    --waiting;
    --woken;
  }
};

/// In a child: what other threads had in the air. fork() waited for their launches, and the threads did not come with
/// it.
void Flights::land_orphans() {
  Flights& all = get();
  const ir::GraphScope scope;
  all.waiting = all.woken = 0;
  for (Flight* flight : std::vector(all.in_air)) {
    if (flight->thread() == std::this_thread::get_id()) continue;
    try {
      flight->land();
    } catch (...) {
      // The error stands in what the plan was to store.
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

void Flight::hold(Storage& memory) {
  slots_.push_back(&memory);
  memory.retain();
  ++memory.owners;
}

void Flight::claim(UOp node, int32_t value) {
  stored_.push_back({node, value});
  TensorGraph::get().retain(node);
  node->state.claimed = true;
}

void Flight::take_off() {
  for (const schedule::Landing& t : targets_)
    if (t.home >= 0) overwrites(*slot(t.home));
  Flights::get().in_air.push_back(this);
}

void Flight::run() noexcept {
  try {
    runtime::once(runtime::faults().before_launch);
    index_error_ = run_.run() & runtime::kIndexError;
  } catch (const OutOfMemory&) {
    error_ = std::current_exception();
    unchanged_ = true;
  } catch (...) { error_ = std::current_exception(); }
}

void Flight::land() {
  TensorGraph& g = TensorGraph::get();
  std::shared_ptr<ir::Notice> notice;
  if (!error_) try {
      // May ask the device, which may be lost: claims are given back all the same.
      notice = std::move(read_).notice(run_, index_error_, [this] { return fault(); });
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
  Flights::get().land(this);
  if (error_) std::rethrow_exception(error_);
}

void Flight::wait() { Flights::get().wait(); }

bool Flight::waking() { return Flights::get().woken; }

int Flight::holding(const Storage& memory) {
  int count = 0;
  for (const Flight* f : Flights::get().in_air)
    count += static_cast<int>(std::count(f->slots_.begin(), f->slots_.end(), &memory));
  return count;
}

void Flight::store(const std::shared_ptr<ir::Notice>& notice) {
  TensorGraph& g = TensorGraph::get();
  std::string text;
  if (error_) text = text_of(error_);
  InlineVector<Storage*, 4> memory;
  memory.reserve(targets_.size());
  for (size_t t = 0; t < targets_.size(); ++t) {
    const int32_t home = targets_[t].home;
    memory.push_back(home >= 0 ? slot(home) : run_.fresh[t].release());
    memory.back()->error = text;
    memory.back()->notice = notice;
  }
  for (const auto& [n, t] : stored_) g.own(n, memory[static_cast<size_t>(t)]);
  for (const auto& [n, t] : stored_) g.settle(n);
}

PlanFlight::PlanFlight(const schedule::Parametrised& program) : Flight(*program.run, program.executable->targets) {
  const schedule::Collected& plan = program.plan;
  for (const schedule::StorageUse& s : plan.storages) hold(*s.storage);
  for (const schedule::Position& p : plan.positions)
    if (p.slot >= 0) read(*p.node->storage());
  for (size_t i = 0; i < plan.nodes.size(); ++i)
    if (const int32_t t = program.executable->target_of[static_cast<size_t>(plan.position_of[i])]; t >= 0)
      claim(plan.nodes[i], t);
  take_off();
  for (const schedule::Landing& t : targets())
    if (plan.positions[static_cast<size_t>(t.position)].home >= 0)
      runtime::count(t.home >= 0 ? runtime::counters().in_place : runtime::counters().moved);
}

IndexFault PlanFlight::fault() const {
  std::vector<UOp> values;
  for (const auto& [n, t] : stored()) values.push_back(n);
  const auto intact = [&](UOp n) {
    return std::none_of(targets().begin(), targets().end(),
                        [&](const schedule::Landing& t) { return t.home >= 0 && slot(t.home) == n->storage(); });
  };
  return index_fault(values, intact, index_error() ? std::numeric_limits<size_t>::max() : kMostHeld);
}

}  // namespace sinter::tensor
