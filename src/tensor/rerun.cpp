// Whether a plan fits the tensors of now, its launches, and what they make the next versions of.
#include "tensor/rerun.h"

#include <algorithm>
#include <utility>

#include "runtime/buffer.h"
#include "runtime/counters.h"
#include "runtime/interpreter/interpreter.h"
#include "sinter/error.h"
#include "tensor/index_fault.h"
#include "tensor/version.h"

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

/// The next version of a tensor, which is a leaf if the one before was (SEMANTICS V5).
void renew(Cell& cell, UOp version) {
  if (cell.leaf_id) {
    version->state.requires_grad = version->state.leaf = true;
    version->state.leaf_id = cell.leaf_id;
  }
  TensorGraph::get().set_origin(version, *cell.node->state.origin);
  cell.node = ir::Hold(version);
}

}  // namespace

bool Rerun::ready() {
  cells_.reserve(replay_.cells.size());
  for (const UsedCell& used : replay_.cells) {
    cells_.push_back(used.cell.lock());
    if (!cells_.back() || !fits(used, *cells_.back()) || is_input(cells_.back()->node->storage())) return false;
  }
  generators_.reserve(replay_.randoms.size());
  for (const RandomSource& source : replay_.randoms)
    if (generators_.push_back(source.generator.lock()); !generators_.back()) return false;
  bindings_.slots.reserve(replay_.slots.size());
  for (const SlotSource& source : replay_.slots) {
    Storage* storage = (source.input ? inputs_[source.number].cell() : cells_[source.number])->node->storage();
    auto* buffer = static_cast<runtime::Buffer*>(storage);
    if (!storage->error.empty()) throw BackendError(storage->error);
    if (reinterpret_cast<uintptr_t>(buffer->data()) % static_cast<size_t>(source.alignment)) return false;
    if (source.written && (storage->foreign() || storage->owners > 1 || cells_[source.number]->node->state.refs > 1))
      return false;
    bindings_.slots.push_back(buffer);
  }
  return true;
}

std::vector<Tensor> Rerun::run(std::unique_ptr<Repeated>& repeated) {
  if (!repeated) repeated = std::make_unique<Repeated>(*replay_.executable, steady_of(replay_));
  bindings_.args = replay_.args;
  bindings_.vars = replay_.vars;
  draw();
  const Repeated::Versions now = repeated->may_keep() ? versions() : Repeated::Versions();
  schedule::Execution& execution = repeated->bind(bindings_, now);
  struct Bound {
    schedule::Execution& execution;
    ~Bound() { execution.let_go(); }
  };
  const Bound bound{execution};
  runtime::count(runtime::counters().plans);
  for (size_t s = 0; s < replay_.slots.size(); ++s)
    if (replay_.slots[s].written) overwrites(*bindings_.slots[s]);
  uint32_t bits = 0;
  try {
    bits = execution.run();
  } catch (const OutOfMemory&) { throw; } catch (const std::exception& error) {
    poison(error.what());
    throw;
  }
  repeated->ran(now);
  return land(execution, bits & runtime::kIndexError);
}

bool Rerun::fits(const UsedCell& used, const Cell& cell) {
  const UOp n = cell.node.get();
  if (used.grad && *used.grad != gradient_of(cell)) return false;
  if (used.node) return n->id == used.node;
  return n->storage() && n->dtype == used.dtype && n->shape == used.shape && n->device == used.device &&
         n->state.requires_grad == used.requires_grad && n->state.leaf == used.leaf && !n->state.claimed;
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

void Rerun::poison(const std::string& text) {
  for (size_t s = 0; s < replay_.slots.size(); ++s)
    if (replay_.slots[s].written) bindings_.slots[s]->error = text;
}

std::shared_ptr<ir::Notice> Rerun::notice(schedule::Execution& run, bool index_error) const {
  NoticesRead read;
  for (const runtime::Buffer* b : bindings_.slots) read.add(*b);
  return std::move(read).notice(run, index_error, [] {
    return [] {
      return std::string("an index of a jitted function was out of range; call the function without jit to see which");
    };
  });
}

std::vector<Tensor> Rerun::land(schedule::Execution& run, bool index_error) {
  const std::shared_ptr<ir::Notice> notice = this->notice(run, index_error);
  std::vector<Tensor> results(replay_.results.size());
  for (size_t t = 0; t < replay_.targets.size(); ++t) {
    const ReplayTarget& target = replay_.targets[t];
    const int32_t home = replay_.executable->targets[t].home;
    Storage* storage = home >= 0 ? bindings_.slots[static_cast<size_t>(home)] : run.fresh[t].release();
    storage->notice = notice;
    for (uint32_t r : target.results) results[r] = wrap(value(target, storage));
    for (uint32_t c : target.cells) renew(*cells_[c], value(target, storage));
  }
  for (size_t r = 0; r < results.size(); ++r) results[r] = results[replay_.results[r]];
  return results;
}

UOp Rerun::value(const ReplayTarget& target, Storage* storage) const {
  TensorGraph& g = TensorGraph::get();
  UOp n = g.make({ir::Op::Data, target.dtype, target.shape, {}, {}, replay_.device});
  g.own(n, storage);
  return n;
}

}  // namespace sinter::tensor
