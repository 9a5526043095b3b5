// Whether a plan fits the tensors of now, its launches, and what they make the next versions of.
#include "tensor/jit/replay.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/base/counters.h"
#include "runtime/base/fault_injection.h"
#include "runtime/base/fork.h"
#include "runtime/exec/buffer.h"
#include "sinter/debug.h"
#include "sinter/error.h"
#include "tensor/eval/in_flight.h"
#include "tensor/eval/index_error.h"

namespace sinter::tensor {
namespace {

using ir::Storage;
using ir::TensorGraph;
using ir::UOp;

schedule::Steady steady_of(const Replay& replay) {
  schedule::Steady steady{{}, std::vector<uint8_t>(replay.args.size(), 1)};
  for (const SlotSource& source : replay.slots) steady.slots.push_back(source.steady());
  for (const RandomSource& source : replay.randoms)
    for (const int arg : {source.seed, source.first})
      if (arg >= 0) steady.args[static_cast<size_t>(arg)] = 0;
  return steady;
}

}  // namespace

/// The nodes of what a run stores, claimed until it lands. What the tensors held before waits for that too: a run that
/// changes nothing gives it back to them.
class Rerun::Takeoff final : public Flight {
 public:
  Takeoff(const Rerun& rerun, schedule::Execution& execution)
      : Flight(execution, rerun.replay_.executable->targets), replay_(rerun.replay_), nodes_(replay_.results.size()) {
    for (runtime::Buffer* b : rerun.bindings_.slots) {
      hold(*b);
      read(*b);
    }
    size_t cells = 0;
    for (const ReplayTarget& target : replay_.targets) cells += target.cells.size();
    versions_.reserve(cells);
    for (size_t t = 0; t < replay_.targets.size(); ++t) {
      const ReplayTarget& target = replay_.targets[t];
      const auto value = [&] {
        const UOp n = TensorGraph::get().make({ir::Op::Data, target.dtype, target.shape, {}, {}, replay_.device});
        claim(n, static_cast<int32_t>(t));
        return n;
      };
      for (uint32_t r : target.results) nodes_[r] = value();
      for (uint32_t c : target.cells) renew(*rerun.cells_[c], value());
    }
    take_off();
  }

  /// The results.
  std::vector<Tensor> results() {
    try {
      land();
    } catch (const OutOfMemory&) {
      for (Version& v : versions_) v.cell->node = std::move(v.before);
      throw;
    }
    std::vector<Tensor> out;
    out.reserve(nodes_.size());
    for (size_t r = 0; r < nodes_.size(); ++r)
      out.push_back(replay_.results[r] == r ? wrap(nodes_[r]) : out[replay_.results[r]]);
    return out;
  }

 private:
  /// The next version of a tensor, which is a leaf if the one before was (SEMANTICS V5).
  void renew(Cell& cell, UOp version) {
    if (cell.leaf_id) {
      version->state.requires_grad = version->state.leaf = true;
      version->state.leaf_id = cell.leaf_id;
    }
    TensorGraph::get().set_origin(version, *cell.node->state.origin);
    versions_.push_back({&cell, std::exchange(cell.node, ir::Hold(version))});
  }

  /// The nodes have no sources, which could say where an index came from.
  IndexFault fault() const override {
    return [] {
      return std::string("an index of a jitted function was out of range; call the function without jit to see which");
    };
  }

  const Replay& replay_;
  struct Version {
    Cell* cell;
    ir::Hold before;
  };
  InlineVector<UOp, 4> nodes_;     ///< per result, of copies of a handle the first
  std::vector<Version> versions_;  ///< of what is assigned
};

Rerun::Ready Rerun::ready() {
  cells_.reserve(replay_.cells.size());
  for (const UsedCell& used : replay_.cells) {
    cells_.push_back(used.cell.lock());
    if (!cells_.back()) return Ready::No;
    if (cells_.back()->node->state.claimed) return Ready::Later;
    if (!fits(used, *cells_.back()) || is_input(cells_.back()->node->storage())) return Ready::No;
  }
  generators_.reserve(replay_.randoms.size());
  for (const RandomSource& source : replay_.randoms)
    if (generators_.push_back(source.generator.lock()); !generators_.back()) return Ready::No;
  bindings_.slots.reserve(replay_.slots.size());
  for (const SlotSource& source : replay_.slots) {
    Storage* storage = (source.input ? inputs_[source.number].cell() : cells_[source.number])->node->storage();
    auto* buffer = static_cast<runtime::Buffer*>(storage);
    if (!storage->error.empty()) throw BackendError(storage->error);
    if (reinterpret_cast<uintptr_t>(buffer->data()) % static_cast<size_t>(source.alignment)) return Ready::No;
    if (source.written && storage->foreign()) return Ready::No;
    if (source.written && cells_[source.number]->node->state.refs > 1)
      return Flight::waking() ? Ready::Later : Ready::No;
    if (source.written && storage->owners > 1)
      return storage->owners > 1 + Flight::holding(*storage) ? Ready::No : Ready::Later;
    bindings_.slots.push_back(buffer);
  }
  return Ready::Yes;
}

std::vector<Tensor> Rerun::run(std::unique_ptr<Repeated>& repeated) {
  if (!repeated) repeated = std::make_unique<Repeated>(*replay_.executable, steady_of(replay_));
  bindings_.args = replay_.args;
  bindings_.vars = replay_.vars;
  draw();
  const Repeated::Versions now = repeated->may_keep() ? versions() : Repeated::Versions();
  schedule::Execution& execution = repeated->bind(bindings_, now);
  struct Bound {
    Repeated& repeated;
    ~Bound() { repeated.let_go(); }
  };
  const Bound bound{*repeated};
  runtime::count(runtime::counters().plans);
  Takeoff takeoff(*this, execution);
  {
    // What the interpreter did when it runs out of memory is undone before anybody sees it.
    const bool stays = debug::executor() == debug::Executor::Interpreter;
    std::optional<runtime::OutsideGraph> outside;
    if (!stays && (!execution.brief || runtime::faults().before_launch)) outside.emplace();
    takeoff.run();
  }
  std::vector<Tensor> results = takeoff.results();
  repeated->ran(now);
  return results;
}

bool Rerun::fits(const UsedCell& used, const Cell& cell) {
  const UOp n = cell.node.get();
  if (used.grad && *used.grad != gradient_of(cell)) return false;
  if (used.node) return n->id == used.node;
  return n->storage() && n->dtype == used.dtype && n->shape == used.shape && n->device == used.device &&
         n->state.requires_grad == used.requires_grad && n->state.leaf == used.leaf;
}

/// An input that shares its memory with a used tensor would be read while that is written in place.
bool Rerun::is_input(const Storage* storage) const {
  return storage && std::any_of(inputs_.begin(), inputs_.end(),
                                [&](const Tensor& t) { return t.cell()->node->storage() == storage; });
}

Repeated::Versions Rerun::versions() const {
  Repeated::Versions out;
  for (size_t s = 0; s < replay_.slots.size(); ++s) {
    const SlotSource& source = replay_.slots[s];
    const bool known = source.steady() && !bindings_.slots[s]->foreign();
    out.push_back(known ? cells_[source.number]->node->id : 0);
  }
  return out;
}

void Rerun::draw() {
  for (size_t r = 0; r < replay_.randoms.size(); ++r) {
    const RandomSource& source = replay_.randoms[r];
    const auto [seed, first] = generators_[r]->take(source.count);
    const auto number = [](uint64_t v) { return ir::Scalar::of(DType::U64, static_cast<int64_t>(v)); };
    if (source.seed >= 0) bindings_.args[static_cast<size_t>(source.seed)] = number(seed);
    if (source.first >= 0) bindings_.args[static_cast<size_t>(source.first)] = number(first);
  }
}

}  // namespace sinter::tensor
