// One call of realize(): prepare, claim, switch, launch, settle.
#include "tensor/realize.h"

#include <memory>
#include <utility>
#include <vector>

#include "runtime/counters.h"
#include "runtime/env.h"
#include "runtime/faults.h"
#include "runtime/fork.h"
#include "runtime/program.h"
#include "schedule/parametrise.h"
#include "sinter/debug.h"
#include "tensor/commit.h"
#include "tensor/flight.h"
#include "tensor/version.h"
#include "uop/verify.h"

namespace sinter {
namespace tensor {
namespace {

using ir::TensorGraph;
using ir::UOp;
using schedule::Parametrised;

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
    if (runtime::env().check) ir::verify_tensor(request.roots, "tensor");
    Parametrised program = schedule::parametrise(request, executor_);
    if (program.plan.claimed) {
      const Keep keep(request.roots);
      Flight::wait();
      return nullptr;
    }
    if (!program.executable) {
      schedule::Build build = schedule::build_plan(program, executor_);
      const Keep keep(request.roots);
      std::shared_ptr<const schedule::Executable> plan;
      {
        const runtime::OutsideGraph outside;
        runtime::once(runtime::faults().while_compiling);
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
