// Checks whether a plan fits the present tensors, launches it, and installs the new versions.
#include "tensor/jit/replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/base/counters.h"
#include "runtime/base/error_word.h"
#include "runtime/base/fault_injection.h"
#include "runtime/base/fork.h"
#include "runtime/exec/buffer.h"
#include "sinter/debug.h"
#include "sinter/error.h"
#include "tensor/eval/in_flight.h"
#include "tensor/eval/run_error.h"

namespace sinter::tensor {
namespace {

runtime::InvariantInputs steady_of(const CapturedPlan& captured) {
  runtime::InvariantInputs steady{{}, std::vector<uint8_t>(captured.args.size(), 1)};
  for (const SlotSource& source : captured.slots) steady.slots.push_back(source.steady());
  for (const RandomSource& source : captured.randoms)
    for (const int arg : {source.seed, source.first})
      if (arg >= 0) steady.args[arg] = 0;
  for (const CapturedSize& size : captured.vars) steady.vars.push_back(size.number < 0);
  for (const StepSource& source : captured.steps)
    for (const StepSource::Number& n : source.numbers)
      if (n.arg >= 0) steady.args[n.arg] = 0;
  return steady;
}

/// The steps of a run, with their numbers for its arguments. Takes them back if the run fails.
class CountedSteps {
 public:
  CountedSteps(const CapturedPlan& captured, runtime::Bindings& bindings) : captured_(captured) {
    for (const StepSource& source : captured.steps) {
      for (size_t n = 0; n < source.numbers.size(); ++n)
        if (const auto [arg, dtype] = source.numbers[n]; arg >= 0)
          bindings.args[arg] = Scalar::of(dtype, source.step->number(n));
      source.step->advance();
    }
  }
  ~CountedSteps() {
    if (!kept_)
      for (size_t s = captured_.steps.size(); s-- > 0;) captured_.steps[s].step->undo();
  }
  CountedSteps(const CountedSteps&) = delete;
  CountedSteps& operator=(const CountedSteps&) = delete;
  void keep() { kept_ = true; }

 private:
  const CapturedPlan& captured_;
  bool kept_ = false;
};

}  // namespace

/// The nodes that a run stores, claimed until it completes. The old versions are held as long: a run without effect
/// restores them.
class Replay::InFlightReplay final : public InFlightPlan {
 public:
  InFlightReplay(const Replay& replay, runtime::Execution& execution)
      : InFlightPlan(execution, *replay.captured_.entry),
        captured_(replay.captured_),
        nodes_(captured_.results.size()) {
    for (runtime::Buffer* b : replay.bindings_.slots) {
      hold(*b);
      read(*b);
    }
    size_t cells = 0;
    for (const CapturedTarget& target : captured_.targets) cells += target.cells.size();
    versions_.reserve(cells);
    for (size_t t = 0; t < captured_.targets.size(); ++t) {
      const CapturedTarget& target = captured_.targets[t];
      const auto value = [&] {
        const UOp n =
            TensorGraph::get().make({Op::Data, target.dtype, replay.sizes_.at(target.shape), {}, {}, captured_.device});
        claim(n, static_cast<int32_t>(t));
        return n;
      };
      for (uint32_t r : target.results) nodes_[r] = value();
      for (uint32_t c : target.cells) renew(*replay.cells_[c], value());
    }
    register_in_flight();
  }

  /// The results.
  std::vector<Tensor> results() {
    try {
      complete();
    } catch (const OutOfMemory&) {
      for (VersionUpdate& v : versions_) v.cell->node = std::move(v.before);
      throw;
    }
    std::vector<Tensor> out;
    out.reserve(nodes_.size());
    for (size_t r = 0; r < nodes_.size(); ++r)
      out.push_back(captured_.results[r] == r ? wrap(nodes_[r]) : out[captured_.results[r]]);
    return out;
  }

 private:
  /// Installs the next version of a tensor. It is a leaf if the previous one was (SEMANTICS V5).
  void renew(Cell& cell, UOp version) {
    if (cell.leaf_id) {
      version->state.requires_grad = version->state.leaf = true;
      version->state.leaf_id = cell.leaf_id;
    }
    TensorGraph::get().set_origin(version, *cell.node->state.origin);
    versions_.push_back({&cell, std::exchange(cell.node, NodeRef(version))});
  }

  /// The nodes have no sources that could tell where an index or a matrix came from.
  ErrorReporter error_reporter() const override {
    return [](uint32_t bits) -> std::string {
      const bool index = (bits & runtime::kIndexError) != 0;
      return fmt::format(
          "{}; call the function without jit to see which",
          index ? "an index of a jitted function was out of range, or weights that it draws from are refused"
                : "a matrix of a jitted function is singular or has no decomposition");
    };
  }

  const CapturedPlan& captured_;
  struct VersionUpdate {
    Cell* cell;
    NodeRef before;
  };
  InlineVector<UOp, 4> nodes_;           ///< per result; for copies of a handle, the first one
  std::vector<VersionUpdate> versions_;  ///< of the assigned tensors
};

Replay::Readiness Replay::ready() {
  cells_.reserve(captured_.cells.size());
  for (const UsedCell& used : captured_.cells) {
    cells_.push_back(used.cell.lock());
    if (!cells_.back()) return Readiness::No;
    if (cells_.back()->node->state.claimed) return Readiness::Later;
    if (!fits(used, *cells_.back()) || is_input(cells_.back()->node->storage())) return Readiness::No;
    if (used.same >= 0 && cells_.back()->node.get() != cells_[used.same]->node.get()) return Readiness::No;
  }
  generators_.reserve(captured_.randoms.size());
  for (const RandomSource& source : captured_.randoms)
    if (generators_.push_back(source.generator.lock()); !generators_.back()) return Readiness::No;
  for (const StepSource& source : captured_.steps)
    if (!source.step->fits()) return Readiness::No;
  bindings_.slots.reserve(captured_.slots.size());
  for (const SlotSource& source : captured_.slots) {
    Storage* storage = (source.input ? inputs_[source.number].cell() : cells_[source.number])->node->storage();
    auto* buffer = static_cast<runtime::Buffer*>(storage);
    if (!storage->error.empty()) throw BackendError(storage->error);
    if (reinterpret_cast<uintptr_t>(buffer->data()) % static_cast<size_t>(source.alignment)) return Readiness::No;
    if (source.written && storage->foreign()) return Readiness::No;
    if (source.written && cells_[source.number]->node->state.refs > 1)
      return InFlightPlan::waiters_waking() ? Readiness::Later : Readiness::No;
    if (source.written && storage->owners > 1)
      return storage->owners > 1 + InFlightPlan::count_holders(*storage) ? Readiness::No : Readiness::Later;
    bindings_.slots.push_back(buffer);
  }
  return Readiness::Yes;
}

std::vector<Tensor> Replay::run(std::unique_ptr<InvariantCache>& cache) {
  if (!cache) cache = std::make_unique<InvariantCache>(*captured_.entry->executable, steady_of(captured_));
  bindings_.args = captured_.args;
  for (const CapturedSize& size : captured_.vars) bindings_.vars.push_back(sizes_.at(size).value());
  draw();
  CountedSteps steps(captured_, bindings_);
  const InvariantCache::Versions now = cache->may_cache() ? versions() : InvariantCache::Versions();
  runtime::Execution& execution = cache->bind(bindings_, now);
  struct ReleaseGuard {
    InvariantCache& cache;
    ~ReleaseGuard() { cache.let_go(); }
  };
  const ReleaseGuard guard{*cache};
  runtime::count(runtime::counters().plans);
  InFlightReplay in_flight(*this, execution);
  {
    // The interpreter may run out of memory in the middle. Its effects are undone before anybody sees them.
    const bool stays = debug::executor() == debug::Executor::Interpreter;
    std::optional<runtime::GraphUnlockedScope> outside;
    if (!stays && (!execution.is_short || runtime::fault_injection().before_launch)) outside.emplace();
    in_flight.run();
  }
  std::vector<Tensor> results = in_flight.results();
  steps.keep();
  cache->record_run(now);
  return results;
}

bool Replay::fits(const UsedCell& used, const Cell& cell) const {
  const UOp n = cell.node.get();
  if (used.grad && *used.grad != gradient_of(cell)) return false;
  if (used.node) return n->id == used.node;
  return n->storage() && n->dtype == used.dtype && n->shape == sizes_.at(used.shape) && n->device == used.device &&
         n->state.requires_grad == used.requires_grad && n->state.leaf == used.leaf;
}

/// An input that shares memory with a used tensor would be read while that memory is written in place.
bool Replay::is_input(const Storage* storage) const {
  return storage && std::ranges::any_of(inputs_, [&](const Tensor& t) { return t.cell()->node->storage() == storage; });
}

InvariantCache::Versions Replay::versions() const {
  InvariantCache::Versions out;
  for (size_t s = 0; s < captured_.slots.size(); ++s) {
    const SlotSource& source = captured_.slots[s];
    const bool known = source.steady() && !bindings_.slots[s]->foreign();
    out.push_back(known ? cells_[source.number]->node->id : 0);
  }
  return out;
}

void Replay::draw() {
  for (size_t r = 0; r < captured_.randoms.size(); ++r) {
    const RandomSource& source = captured_.randoms[r];
    const auto [seed, first] =
        generators_[r]->take(static_cast<uint64_t>(sizes_.at(source.shape).numel()) * source.each);
    const auto number = [](uint64_t v) { return Scalar::of(DType::U64, static_cast<int64_t>(v)); };
    if (source.seed >= 0) bindings_.args[source.seed] = number(seed);
    if (source.first >= 0) bindings_.args[source.first] = number(first);
  }
}

}  // namespace sinter::tensor
