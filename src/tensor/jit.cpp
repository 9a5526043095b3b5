// Plans of jitted functions: when to run the function, when its plan alone.
#include "sinter/jit.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "runtime/counters.h"
#include "runtime/env.h"
#include "runtime/interpreter.h"
#include "sinter/debug.h"
#include "tensor/capture.h"
#include "tensor/realize.h"
#include "tensor/version.h"

namespace sinter {
inline namespace v0 {
namespace {

using ir::Storage;
using ir::TensorGraph;
using ir::UOp;
using tensor::Replay;
using tensor::ReplayTarget;

constexpr int kMostPrograms = 4;  ///< in a row that differ: then it is no accident of the first calls

/// What one plan is for.
struct Signature {
  struct Input {
    DType dtype;
    Shape shape;
    Device device;
    size_t memory;  ///< the first input that lies in the same
    bool requires_grad;
  };
  std::vector<Input> inputs;
  bool grad;
  debug::Executor executor;
};

size_t memory_of(std::span<const Tensor> inputs, UOp n) {
  size_t memory = 0;
  while (inputs[memory].cell()->node->storage() != n->storage()) ++memory;
  return memory;
}

Signature signature_of(std::span<const Tensor> inputs) {
  Signature out{{}, ir::grad_enabled(), debug::executor()};
  for (const Tensor& t : inputs) {
    const UOp n = t.cell()->node.get();
    out.inputs.push_back({n->dtype, n->shape, n->device, memory_of(inputs, n), n->state.requires_grad});
  }
  return out;
}

/// It is theirs.
bool is_of(const Signature& signature, std::span<const Tensor> inputs) {
  if (signature.grad != ir::grad_enabled() || signature.executor != debug::executor()) return false;
  const auto same = [&](const Signature::Input& a, const Tensor& t) {
    const UOp n = t.cell()->node.get();
    return a.dtype == n->dtype && a.shape == n->shape && a.device == n->device && a.memory == memory_of(inputs, n) &&
           a.requires_grad == n->state.requires_grad;
  };
  return std::equal(signature.inputs.begin(), signature.inputs.end(), inputs.begin(), inputs.end(), same);
}

struct Program {
  Signature signature;
  Replay replay;
  bool sure = false;              ///< two calls that it fitted in a row gave it
  int others = 0;                 ///< programs before it, each of them another
  std::optional<Replay> instead;  ///< of the last call, which `replay` did not fit
  std::unique_ptr<schedule::Execution> run = nullptr;  ///< of `replay`, once it was run alone
};

/// Throws UsageError if numbers differ where nothing else does.
bool same_program(const Replay& a, const Replay& b) {
  if (a.key != b.key || a.targets != b.targets || a.randoms != b.randoms || a.results != b.results || a.cells.size() != b.cells.size())
    return false;
  for (size_t i = 0; i < a.cells.size(); ++i)
    if (a.cells[i].cell.lock() != b.cells[i].cell.lock() || a.cells[i].node != b.cells[i].node) return false;
  for (size_t i = 0; i < a.slots.size(); ++i)
    if (a.slots[i].input != b.slots[i].input || a.slots[i].number != b.slots[i].number) return false;
  for (size_t i = 0; i < a.numbers.size(); ++i)
    if (!(a.numbers[i] == b.numbers[i]))
      tensor::usage_error(fmt::format("a number of the jitted function was {} in one call and {} in the next, and what it will be "
                                      "is unknown; pass it as a tensor",
                                      a.numbers[i].as_double(), b.numbers[i].as_double()));
  return a.executable == b.executable;
}

/// One later call: no node is looked at but those that hold the tensors.
class Rerun {
 public:
  Rerun(const Replay& replay, std::span<const Tensor> inputs) : replay_(replay), inputs_(inputs) {}

  /// False if the tensors are not as the program needs them.
  bool ready() {
    cells_.reserve(replay_.cells.size());
    for (const tensor::UsedCell& used : replay_.cells) {
      cells_.push_back(used.cell.lock());
      if (!cells_.back() || !fits(used, cells_.back()->node.get()) || is_input(cells_.back()->node->storage())) return false;
    }
    generators_.reserve(replay_.randoms.size());
    for (const tensor::RandomSource& source : replay_.randoms)
      if (generators_.push_back(source.generator.lock()); !generators_.back()) return false;
    bindings_.slots.reserve(replay_.slots.size());
    for (const tensor::SlotSource& source : replay_.slots) {
      Storage* storage = (source.input ? inputs_[source.number].cell() : cells_[source.number])->node->storage();
      auto* buffer = static_cast<runtime::Buffer*>(storage);
      if (!storage->error.empty()) throw BackendError(storage->error);
      if (reinterpret_cast<uintptr_t>(buffer->data()) % static_cast<size_t>(source.alignment)) return false;
      if (source.written && (storage->foreign() || storage->owners > 1 || cells_[source.number]->node->state.refs > 1)) return false;
      bindings_.slots.push_back(buffer);
    }
    return true;
  }

  std::vector<Tensor> run(schedule::Execution& run) {
    bindings_.args = replay_.args;
    bindings_.vars = replay_.vars;
    draw();
    struct Bound {
      schedule::Execution& run;
      ~Bound() { run.let_go(); }
    };
    const Bound bound{run};
    run.bind(bindings_);
    runtime::count(runtime::counters().plans);
    uint32_t bits = 0;
    try {
      bits = run.run();
    } catch (const std::exception& error) {
      poison(error.what());
      throw;
    }
    return land(run, bits & runtime::kIndexError);
  }

 private:
  static bool fits(const tensor::UsedCell& used, UOp n) {
    if (used.node) return n->id == used.node;
    return n->storage() && n->dtype == used.dtype && n->shape == used.shape && n->device == used.device &&
           n->state.requires_grad == used.requires_grad && n->state.leaf == used.leaf && !n->state.claimed;
  }

  /// An input that shares its memory with a used tensor would be read while that is written in place.
  bool is_input(const Storage* storage) const {
    return storage && std::any_of(inputs_.begin(), inputs_.end(), [&](const Tensor& t) { return t.cell()->node->storage() == storage; });
  }

  void draw() {
    for (size_t r = 0; r < replay_.randoms.size(); ++r) {
      const tensor::RandomSource& source = replay_.randoms[r];
      const auto [seed, first] = generators_[r]->take(source.count);
      const auto number = [](uint64_t v) { return ir::Scalar::of(DType::U64, static_cast<int64_t>(v)); };
      if (source.seed >= 0) bindings_.args[static_cast<size_t>(source.seed)] = number(seed);
      if (source.first >= 0) bindings_.args[static_cast<size_t>(source.first)] = number(first);
    }
  }

  void poison(const std::string& text) {
    for (size_t s = 0; s < replay_.slots.size(); ++s)
      if (replay_.slots[s].written) bindings_.slots[s]->error = text;
  }

  std::shared_ptr<ir::Notice> notice(schedule::Execution& run, bool index_error) const {
    std::vector<std::shared_ptr<ir::Notice>> before;
    for (const runtime::Buffer* b : bindings_.slots)
      if (b->notice && !b->notice->silent() && std::find(before.begin(), before.end(), b->notice) == before.end())
        before.push_back(b->notice);
    const auto text = [] { return std::string("an index of a jitted function was out of range; call the function without jit to see which"); };
    if (index_error) return std::make_shared<ir::Notice>(text(), nullptr, std::move(before));
    if (!run.error) return before.empty() ? nullptr : std::make_shared<ir::Notice>("", nullptr, std::move(before));
    return std::make_shared<ir::Notice>(
        text(),
        [word = std::shared_ptr<const runtime::Buffer>(std::move(run.error))] {
          uint32_t bits = 0;
          word->read(&bits);
          return (bits & runtime::kIndexError) != 0;
        },
        std::move(before));
  }

  std::vector<Tensor> land(schedule::Execution& run, bool index_error) {
    const std::shared_ptr<ir::Notice> notice = this->notice(run, index_error);
    std::vector<Tensor> results(replay_.results.size());
    for (size_t t = 0; t < replay_.targets.size(); ++t) {
      const ReplayTarget& target = replay_.targets[t];
      const int32_t home = replay_.executable->targets[t].home;
      Storage* storage = home >= 0 ? bindings_.slots[static_cast<size_t>(home)] : run.fresh[t].release();
      storage->notice = notice;
      for (uint32_t r : target.results) results[r] = tensor::wrap(value(target, storage));
      for (uint32_t c : target.cells) renew(*cells_[c], value(target, storage));
    }
    for (size_t r = 0; r < results.size(); ++r) results[r] = results[replay_.results[r]];
    return results;
  }

  UOp value(const ReplayTarget& target, Storage* storage) const {
    TensorGraph& g = TensorGraph::get();
    UOp n = g.make({ir::Op::Data, target.dtype, target.shape, {}, {}, replay_.device});
    g.own(n, storage);
    return n;
  }

  /// The next version of a tensor, which is a leaf if the one before was (SEMANTICS V5).
  static void renew(Cell& cell, UOp version) {
    if (cell.leaf_id) {
      version->state.requires_grad = version->state.leaf = true;
      version->state.leaf_id = cell.leaf_id;
    }
    TensorGraph::get().set_origin(version, *cell.node->state.origin);
    cell.node = ir::Hold(version);
  }

  const Replay& replay_;
  std::span<const Tensor> inputs_;
  std::vector<std::shared_ptr<Cell>> cells_;
  std::vector<std::shared_ptr<GeneratorState>> generators_;
  schedule::Bindings bindings_;
};

/// What the thread has assigned, and inputs that wait: no part of the function's program.
void settle(std::span<const Tensor> inputs) {
  for (std::vector<UOp> waiting = tensor::recorded([](const Cell&) { return false; });; waiting.clear()) {
    for (const Tensor& t : inputs)  // again if another thread has assigned one meanwhile
      if (UOp n = tensor::node_of(t); !n->storage()) waiting.push_back(n);
    if (waiting.empty()) return;
    tensor::realize(waiting);
  }
}

}  // namespace

struct JitPlans::Known {
  std::vector<Program> programs;

  Program* find(std::span<const Tensor> inputs) {
    for (Program& p : programs)
      if (is_of(p.signature, inputs)) return &p;
    return nullptr;
  }
  /// `known`: that of the signature, or null. `fitted`: the tensors of the call were as the known program needs them. A call in which they
  /// were not, because somebody held the old value perhaps, says nothing against that program unless the next is like it.
  void learn(Program* known, const Signature& signature, Replay replay, bool fitted) {
    if (!known) return programs.push_back({signature, std::move(replay), false, 0, {}}), void();
    const bool again = same_program(known->replay, replay) || (!fitted && known->instead && same_program(*known->instead, replay));
    if (!again && !fitted) return known->instead = std::move(replay), void();
    known->instead.reset();
    if (again) {
      known->sure = true;
      known->others = 0;
    } else if (++known->others >= kMostPrograms) {
      known->others = 0;
      tensor::usage_error(fmt::format("the jitted function built another program at each of {} calls in a row; jit a part that does "
                                      "the same every time",
                                      kMostPrograms + 1));
    } else {
      known->sure = false;
    }
    known->run.reset();
    known->replay = std::move(replay);
  }
};

JitPlans::JitPlans() : known_(std::make_unique<Known>()) {}
JitPlans::~JitPlans() = default;
JitPlans::JitPlans(JitPlans&&) noexcept = default;
JitPlans& JitPlans::operator=(JitPlans&&) noexcept = default;

std::vector<Tensor> JitPlans::call(const Function& function, std::span<const Tensor> inputs, Loc where) {
  const tensor::Call call("jit", where);
  if (tensor::Capture::current()) tensor::usage_error("a jitted function calls another one; jit the outer one alone");
  settle(inputs);
  Program* const known = known_->find(inputs);
  bool fitted = false;
  if (known) {
    Rerun rerun(known->replay, inputs);
    fitted = rerun.ready();
    if (fitted && known->sure && !runtime::env().check) {
      known->instead.reset();
      if (!known->run) known->run = known->replay.executable->runs();
      return rerun.run(*known->run);
    }
  }

  const Signature signature = signature_of(inputs);
  std::vector<Tensor> given;  // cells of its own, which tell inputs from tensors that the function uses besides
  for (const Tensor& t : inputs) given.push_back(tensor::wrap(t.cell()->node.get()));
  tensor::Capture capture(given);
  std::vector<Tensor> results = function(given);
  capture.returned(results);
  settle(results);
  if (!capture.replay.executable) tensor::usage_error("the jitted function computes nothing; return what it computes");
  known_->learn(known, signature, std::move(capture.replay), fitted);
  return results;
}

}  // namespace v0
}  // namespace sinter
