// Observes a function and checks that its plan can be replayed.
#include "tensor/jit/capture.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ir/splat.h"
#include "ir/user_rule.h"
#include "ir/walk.h"
#include "plan/plan_key.h"
#include "runtime/exec/buffer.h"

namespace sinter::tensor {
namespace {

/// "made at FILE:LINE by CALL".
std::string made_by(const NodeOrigin& origin) {
  return origin.call.empty() ? "made outside of all calls"
                             : fmt::format("made at {}:{} by {}", origin.file, origin.line, origin.call);
}

constexpr std::string_view kCopy = "t = t.clone().realize()";  ///< gives a tensor memory of its own

/// Whether n, once computed, shares the memory of its base (SEMANTICS H3). The function may use the base too.
bool shares_memory(UOp n) {
  while (!n->storage() && (n->op == Op::Reshape || n->op == Op::Detach)) n = n->src[0];
  return n->storage();
}

[[noreturn]] void reject_pending(UOp n) {
  usage_error("the jitted function uses a tensor that waits to be computed, {}; compute it before, by {}",
              made_by(*n->state.origin), shares_memory(n) ? kCopy : "t.realize()");
}

template <class Range, class T>
int index_in(const Range& range, const T& item) {
  const auto at = std::find(std::begin(range), std::end(range), item);
  return at == std::end(range) ? -1 : static_cast<int>(at - std::begin(range));
}

}  // namespace

Capture::Capture(std::span<const Tensor> inputs, const CallSizes& sizes)
    : sizes_(sizes), start_(TensorGraph::get().next_unique_id()) {
  for (const Tensor& t : inputs) inputs_.push_back(t.cell());
  for (const std::shared_ptr<Cell>& c : inputs_) input_handles_.push_back(c.use_count());
  if (current_) usage_error("a jitted function calls another one; jit the outer one alone");
  current_ = this;
}
Capture::~Capture() {
  current_ = nullptr;
  if (!steps_stay_)
    for (size_t s = step_numbers_.size(); s-- > 0;) captured.steps[s].step->undo();
  for (const CellUse& m : uses_)
    if (m.storage) m.storage->release();
}

void Capture::on_make(const std::shared_ptr<Cell>& cell) {
  if (!returned_) made_.push_back(cell);
}

void Capture::on_use(const std::shared_ptr<Cell>& cell) {
  if (returned_ || index_in(inputs_, cell) >= 0) return;
  Storage* storage = cell->node->storage();
  for (const CellUse& m : uses_)
    if (m.cell == cell) return;
  const bool own = cell->number > start_;
  if (own && !storage) return;
  const auto shares = [&](const CellUse& m) { return m.storage && m.storage == storage; };
  const auto other = std::ranges::find_if(uses_, shares);
  const bool alias = other != uses_.end();
  const int same =  // equal constants are one node
      alias && other->cell->node.get() == cell->node.get() ? static_cast<int>(other - uses_.begin()) : -1;
  const bool of_input =
      std::ranges::any_of(inputs_, [&](const auto& c) { return storage && c->node->storage() == storage; });
  if (own && (alias || of_input)) return;  // a view of a known tensor, such as by detach() or reshape
  if (own)
    usage_error(
        "the jitted function makes data from host memory ({}), which later calls would not make again; make "
        "it outside, or pass it as an input",
        made_by(cell->origin));
  if ((alias && same < 0) || of_input)
    usage_error(
        "the jitted function uses two tensors that share their memory, one of them {}; which of them later "
        "calls should read is unknown: use one, or copy the other before, by {}",
        made_by(cell->origin), kCopy);
  if (storage) storage->retain();
  waits_for_others_ |= !storage && (cell->assigned_by || cell->node->state.claimed);
  uses_.push_back({cell, storage});
  const UOp n = cell->node.get();
  captured.cells.push_back({cell, storage ? 0 : n->id, n->dtype, sizes_.capture(n->shape), n->device,
                            n->state.requires_grad, n->state.leaf, std::nullopt, same});
}

void Capture::on_assign(const std::shared_ptr<Cell>& cell) {
  if (returned_) return;
  if (const int input = index_in(inputs_, cell); input >= 0)
    usage_error(
        "the jitted function assigns its input {}; assign outside, or let the function use that tensor "
        "without passing it",
        input);
  if (cell->number <= start_ && index_in(assigned_, cell) < 0) assigned_.push_back(cell);
}

void Capture::on_gradient(const std::shared_ptr<Cell>& cell) {
  if (returned_) return;
  if (const int input = index_in(inputs_, cell); input >= 0)
    usage_error(
        "the jitted function asks for the gradient that input {} has collected, which is no part of it; let "
        "the function use that tensor without passing it, or pass its grad()",
        input);
  for (size_t i = 0; i < uses_.size(); ++i)
    if (uses_[i].cell == cell) captured.cells[i].grad = gradient_of(*cell) > start_ ? 0 : gradient_of(*cell);
}

void Capture::on_gradient_change(const std::shared_ptr<Cell>& cell, std::string_view what) {
  if (returned_ || (cell->number > start_ && index_in(inputs_, cell) < 0)) return;
  on_gradient(cell);
  if (cell->grad && gradient_of(*cell) <= start_)
    usage_error(
        "the jitted function {} a tensor that has a gradient from before ({}), and later calls would not "
        "find it; take it before, by zero_grad(), and let the function make its own by backward()",
        what, made_by(cell->grad->origin));
  if (index_in(graded_, cell) < 0) graded_.push_back(cell);
}

void Capture::on_step(std::shared_ptr<HostStep> step, std::span<const UOp> numbers) {
  captured.steps.push_back({std::move(step), {}});
  step_numbers_.emplace_back();
  for (const UOp n : numbers) {
    captured.steps.back().numbers.push_back({-1, n->dtype});
    step_numbers_.back().push_back(n->id);
  }
}

void Capture::on_change(const std::shared_ptr<Cell>& cell, std::string_view what) {
  if (returned_ || (cell->number > start_ && index_in(inputs_, cell) < 0)) return;
  usage_error("the jitted function {} a tensor that it has not made, and later calls would not; do it outside", what);
}

void Capture::on_draw(Generator& generator, const Shape& shape, uint64_t each, UOp seed, UOp first) {
  captured.randoms.push_back({generator.shared(), sizes_.capture(shape), each, -1, -1});
  draws_.push_back({seed->id, first->id});
}

void Capture::on_seed() {
  if (!returned_)
    usage_error("the jitted function sets the state of a generator, and later calls would not; do it outside");
}

void Capture::on_read(std::span<const UOp> asked) {
  if (!returned_ && !asked.empty())
    usage_error(
        "a jitted function reads or realizes a tensor ({}), and later calls would not do it "
        "again; return the tensor, and read it outside",
        made_by(*asked[0]->state.origin));
}

void Capture::on_return(std::span<const Tensor> results) {
  for (const NodeRef& n : rules_) forget_user_rules(n.get().get());  // no result has a history
  rules_.clear();
  drain_user_rules();
  for (const RandomSource& source : captured.randoms)
    if (source.generator.expired())
      usage_error(
          "the jitted function draws numbers from a generator that is gone when it returns, and later calls would not "
          "make it again; make the generator outside");
  for (const std::shared_ptr<Cell>& c : graded_)
    if (c->grad)
      usage_error(
          "the jitted function leaves a gradient in a tensor ({}) that it has not made, and later calls "
          "would not; take it by step() or zero_grad(), or return what gradient() gives",
          made_by(c->origin));
  graded_.clear();
  for (size_t i = 0; i < results.size(); ++i) {
    const UOp n = node_of(results[i]);
    if (n->storage() || results[i].cell()->number <= start_)
      usage_error("result {} of the jitted function is not computed by it; return what it computes, a clone() perhaps",
                  i);
    if (n->has_history())
      usage_error(
          "result {} of the jitted function requires grad, and later calls would record no history; call it "
          "under no_grad, or return what detach() gives",
          i);
    results_.push_back(results[i].cell());
    captured.results.push_back(static_cast<uint32_t>(index_in(results_, results[i].cell())));
  }
  if (results.empty() && assigned_.empty())
    usage_error("the jitted function computes nothing; return what it computes");
  reject_escapes(results);
  returned_ = true;
}

/// Only cells that the function has made count. Constants may be kept: they never change.
void Capture::reject_escapes(std::span<const Tensor> results) const {
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].use_count() > input_handles_[i])
      usage_error(
          "the jitted function keeps a handle to its input {}, which later calls would not renew; return its "
          "clone() and keep that, or keep what the caller has",
          i);
  for (const std::weak_ptr<Cell>& made : made_) {
    const std::shared_ptr<Cell> cell = made.lock();
    if (!cell) continue;
    const auto is_cell = [&](const Tensor& t) { return t.cell() == cell; };
    const auto copies = std::ranges::count_if(results, is_cell);
    if (!copies && !cell->node->storage() && splat_const(cell->node.get())) continue;
    if (cell.use_count() > 1 + 2 * copies)  // `cell`, and the handles in results and results_
      usage_error(
          "something beside the results of the jitted function holds a value that it computes ({}), which "
          "later calls would not renew; return it, and hold what the call gives",
          made_by(cell->origin));
  }
}

/// Whether other threads interfered: one computed a result or an assigned version, or has yet to compute a version that
/// the function uses.
bool Capture::disturbed() const {
  const auto computed = [](const std::shared_ptr<Cell>& c) { return c->node->storage() != nullptr; };
  return waits_for_others_ || std::ranges::any_of(results_, computed) || std::ranges::any_of(assigned_, computed);
}

void Capture::on_plan(const plan::PlanInstance& instance, bool whole) {
  if (disturbed()) return;
  if (!whole || instance.copies)
    usage_error(
        "the jitted function computes on several devices; jit the parts that lie on one (inverse, solve and what else "
        "LAPACK computes lie on the CPU)");
  captured.key = instance.plan_key.hash;
  captured.entry = instance.entry;
  captured.device = instance.program.positions[instance.program.roots[0]].node->device;
  for (const plan::BoundVar& v : instance.plan_key.vars) captured.vars.push_back(sizes_.capture(v.var(v.value)));
  capture_slots(instance);
  capture_numbers(instance);
  capture_targets(instance);
}

template <class Reads>
UOp Capture::find_pending(Reads reads) const {
  for (const CellUse& m : uses_) {
    const UOp n = m.cell->node.get();
    if (m.storage || n->src.empty()) continue;
    const std::vector<UOp> nodes = topological({&n, 1}, [](UOp s) { return !s->storage(); });
    if (std::ranges::any_of(nodes, reads)) return n;
  }
  return {};
}

void Capture::capture_slots(const plan::PlanInstance& instance) {
  for (const plan::StorageUse& use : instance.program.storages) {
    SlotSource source{.alignment = plan::alignment_of(*use.storage)};
    const auto holds = [&](const std::shared_ptr<Cell>& c) { return c->node->storage() == use.storage; };
    const auto input = std::ranges::find_if(inputs_, holds);
    const auto met = std::ranges::find_if(uses_, [&](const CellUse& m) { return m.storage == use.storage; });
    if (input != inputs_.end()) {
      source.input = true;
      source.number = static_cast<uint32_t>(input - inputs_.begin());
    } else if (met != uses_.end()) {
      source.number = static_cast<uint32_t>(met - uses_.begin());
    } else {
      const UOp user = find_pending([&](UOp n) { return n->storage() == use.storage; });
      reject_pending(user ? user : use.node);
    }
    captured.slots.push_back(source);
  }
}

void Capture::capture_numbers(const plan::PlanInstance& instance) {
  for (const plan::Number& n : instance.plan_key.numbers) captured.numbers.push_back(n.value);
  std::vector<int> arg_of(captured.numbers.size(), -1);
  for (size_t a = 0; a < instance.entry->arg_numbers.size(); ++a)
    arg_of[instance.entry->arg_numbers[a]] = static_cast<int>(a);
  for (size_t i = 0; i < instance.program.positions.size(); ++i) {
    const UOp n = instance.program.positions[i].node;
    if (n->op != Op::Num || instance.program.positions[i].slot >= 0) continue;
    const size_t number = instance.plan_key.first_number[i];
    bool known = false;
    for (size_t d = 0; d < draws_.size(); ++d) {
      if (n->id == draws_[d].seed) captured.randoms[d].seed = arg_of[number], known = true;
      if (n->id == draws_[d].first) captured.randoms[d].first = arg_of[number], known = true;
    }
    for (size_t s = 0; s < step_numbers_.size(); ++s)
      for (size_t k = 0; k < step_numbers_[s].size(); ++k)
        if (n->id == step_numbers_[s][k]) captured.steps[s].numbers[k].arg = arg_of[number], known = true;
    if (!known) {
      if (const UOp user = find_pending([&](UOp m) { return m == n; })) reject_pending(user);
      usage_error(
          "the jitted function uses a number() ({}), whose value later calls would not know; pass it as a tensor",
          made_by(*n->state.origin));
    }
    captured.numbers[number] = {};
  }
  for (const uint32_t n : instance.entry->arg_numbers) captured.args.push_back(captured.numbers[n]);
}

void Capture::capture_targets(const plan::PlanInstance& instance) {
  const plan::CanonicalProgram& all = instance.program;
  for (const plan::StoreTarget& store_target : instance.entry->targets) {
    const plan::Position& p = all.positions[store_target.position];
    CapturedTarget target{{}, {}, p.node->dtype, sizes_.capture(p.node->shape)};
    for (size_t i = 0; i < all.nodes.size(); ++i) {
      if (all.position_of[i] != store_target.position) continue;
      const auto holds = [&](const std::shared_ptr<Cell>& c) { return c->node.get() == all.nodes[i]; };
      for (size_t r = 0; r < results_.size(); ++r)
        if (captured.results[r] == r && holds(results_[r])) target.results.push_back(static_cast<uint32_t>(r));
      for (size_t c = 0; c < uses_.size(); ++c)
        if (index_in(assigned_, uses_[c].cell) >= 0 && holds(uses_[c].cell))
          target.cells.push_back(static_cast<uint32_t>(c));
    }
    if (store_target.home >= 0) captured.slots[store_target.home].written = true;
    for (SlotSource& source : captured.slots)
      source.assigned |= !source.input && index_in(target.cells, source.number) >= 0;
    captured.targets.push_back(std::move(target));
  }
  // Any other value that outlives the plan belongs to a tensor that was built outside. It is rejected if the plan
  // stores it. If it is recomputed instead, it is the same at every call only if it reads no memory.
  for (size_t t = 0; t < captured.targets.size(); ++t)
    if (captured.targets[t].results.empty() && captured.targets[t].cells.empty())
      reject_pending(all.positions[instance.entry->targets[t].position].node);
  std::vector<uint8_t> reads(all.positions.size());
  for (size_t i = 0; i < all.positions.size(); ++i) {
    const plan::Position& p = all.positions[i];
    reads[i] = p.slot >= 0;
    for (const plan::SourceRef s : all.sources_of(p)) reads[i] |= !s.constant() && reads[s.position()];
    if (reads[i] && p.slot < 0 && p.outlives && !p.root) reject_pending(p.node);
  }
  size_t versions = 0;
  for (const CapturedTarget& t : captured.targets) versions += t.cells.size();
  for (const std::shared_ptr<Cell>& c : assigned_)
    if (c->node->has_history())
      usage_error(
          "the jitted function assigns a value that requires grad; assign under no_grad, or what detach() gives");
  if (versions != assigned_.size())
    usage_error("the jitted function assigns a tensor a value that it does not compute; compute it, or assign outside");
}

}  // namespace sinter::tensor
