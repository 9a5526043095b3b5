// Claims, the run, and what it leaves.
#include "tensor/flight.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>

#include "runtime/counters.h"
#include "runtime/faults.h"
#include "runtime/fork.h"
#include "runtime/interpreter/interpreter.h"
#include "tensor/cell.h"
#include "tensor/index_fault.h"

namespace sinter::tensor {
namespace {

using ir::Storage;
using ir::TensorGraph;
using ir::UOp;

/// Bytes that an index tensor may be made from and be held until a GPU says whether an index was out of range. There
/// are at most 64 plans in a row of which that is not known (uop/notice.cpp).
constexpr size_t kMostHeld = size_t{8} << 20;

/// All plans in flight: who needs a claimed node waits until one has landed. All is written under the graph's mutex.
struct Flights {
  std::atomic<uint64_t> landed{0};  ///< while somebody waited
  size_t waiting = 0;               ///< threads
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
    ++landed;
    landed.notify_all();
  }
  /// Inside a GraphScope, in which the claim was seen: it cannot have landed in between.
  void wait() {
    const uint64_t seen = landed;
    ++waiting;
    {
      const ir::GraphPause pause;
      landed.wait(seen);
    }
    --waiting;
  }
};

/// In a child: what other threads had in the air. fork() waited for their launches, and the threads did not come with
/// it.
void Flights::land_orphans() {
  Flights& all = get();
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

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) { return e.what(); } catch (...) {
    return "a launch failed";
  }
}

}  // namespace

Flight::Flight(const schedule::Parametrised& program) : program_(program) {
  const schedule::Executable& plan = *program.executable;
  for (size_t i = 0; i < program.plan.nodes.size(); ++i)
    if (const int32_t t = plan.target_of[static_cast<size_t>(program.plan.position_of[i])]; t >= 0)
      stored_.push_back({program.plan.nodes[i], t});
  for (const schedule::StorageUse& s : program.plan.storages) {
    s.storage->retain();
    ++s.storage->owners;
  }
  for (const schedule::Position& p : program.plan.positions) {
    if (p.slot >= 0) read_.add(*p.node->storage());
  }
  for (const schedule::Landing& t : plan.targets) {
    if (t.home >= 0) overwrites(*slot(t.home));
    if (program.plan.positions[static_cast<size_t>(t.position)].home < 0) continue;
    runtime::count(t.home >= 0 ? runtime::counters().in_place : runtime::counters().moved);
  }
  for (const auto& [n, t] : stored_) {
    TensorGraph::get().retain(n);
    n->state.claimed = true;
  }
  Flights::get().in_air.push_back(this);
}

void Flight::run() noexcept {
  try {
    runtime::once(runtime::faults().before_launch);
    index_error_ = program_.run->run() & runtime::kIndexError;
  } catch (const OutOfMemory&) {
    error_ = std::current_exception();
    unchanged_ = true;
  } catch (...) { error_ = std::current_exception(); }
}

void Flight::land() {
  TensorGraph& g = TensorGraph::get();
  std::shared_ptr<ir::Notice> notice;
  if (!error_) try {
      notice = this->notice();  // may ask the device, which may be lost: claims are given back all the same
    } catch (...) { error_ = std::current_exception(); }
  if (!unchanged_) store(notice);
  for (const auto& [n, t] : stored_) {
    n->state.claimed = false;
    g.release(n);
  }
  for (const schedule::StorageUse& s : program_.plan.storages) {
    --s.storage->owners;
    s.storage->release();
  }
  Flights::get().land(this);
  if (error_) std::rethrow_exception(error_);
}

void Flight::wait() { Flights::get().wait(); }

IndexFault Flight::fault() const {
  std::vector<UOp> values;
  for (const auto& [n, t] : stored_) values.push_back(n);
  const auto intact = [&](UOp n) {
    const std::vector<schedule::Landing>& targets = program_.executable->targets;
    return std::none_of(targets.begin(), targets.end(),
                        [&](const schedule::Landing& t) { return t.home >= 0 && slot(t.home) == n->storage(); });
  };
  return index_fault(values, intact, index_error_ ? std::numeric_limits<size_t>::max() : kMostHeld);
}

std::shared_ptr<ir::Notice> Flight::notice() {
  return std::move(read_).notice(*program_.run, index_error_, [this] { return fault(); });
}

void Flight::store(const std::shared_ptr<ir::Notice>& notice) {
  TensorGraph& g = TensorGraph::get();
  std::string text;
  if (error_) text = text_of(error_);
  InlineVector<Storage*, 4> memory;
  const std::vector<schedule::Landing>& targets = program_.executable->targets;
  memory.reserve(targets.size());
  for (size_t t = 0; t < targets.size(); ++t) {
    const int32_t home = targets[t].home;
    memory.push_back(home >= 0 ? slot(home) : program_.run->fresh[t].release());
    memory.back()->error = text;
    memory.back()->notice = notice;
  }
  for (const auto& [n, t] : stored_) g.own(n, memory[static_cast<size_t>(t)]);
  for (const auto& [n, t] : stored_) g.settle(n);
}

}  // namespace sinter::tensor
