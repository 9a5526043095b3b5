// Leaves and their gradients (SEMANTICS G1 to G6): applies the graph-to-graph walk of src/gradient to cells.
#include <fmt/core.h>

#include "gradient/reverse.h"
#include "sinter/gradient.h"
#include "tensor/core/cell_version.h"
#include "tensor/core/operands.h"
#include "tensor/eval/realize.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// A leaf that a backward() reaches, and the cell that accumulates its gradient.
struct ReachedLeaf {
  UOp leaf;
  std::shared_ptr<Cell> cell;
};

std::vector<ReachedLeaf> reached_leaves(const std::vector<UOp>& gradient_nodes) {
  std::vector<ReachedLeaf> out;
  for (UOp n : gradient_nodes)
    if (n->state.leaf)
      if (auto cell = cell_of_leaf(n->state.leaf_id)) out.push_back({n, std::move(cell)});
  return out;
}

/// Runs f. Errors of the graph get the caller's place.
template <class F>
auto with_call_site(F&& f) {
  try {
    return f();
  } catch (const UsageError& e) {
    if (e.where().line()) throw;
    usage_error(e.what());
  }
}

/// Reports a change that a jitted function's plan would not repeat: see Observer::on_change().
void notify_change(const std::shared_ptr<Cell>& cell, std::string_view what) {
  if (Observer* observer = Observer::current()) observer->on_change(cell, what);
}
void notify_gradient_change(const std::shared_ptr<Cell>& cell, std::string_view what) {
  if (Observer* observer = Observer::current()) observer->on_gradient_change(cell, what);
}
void notify_gradient(const std::shared_ptr<Cell>& cell) {
  if (Observer* observer = Observer::current()) observer->on_gradient(cell);
}

/// The seed of `value`, on its device.
UOp seed_of(const Tensor& given, UOp value) {
  const UOp seed = node_of(given);
  if (seed->shape != value->shape || seed->dtype != value->dtype)
    usage_error("the seed is {} and the value {}; {}", tensor::describe(seed), tensor::describe(value),
                mismatch_hint(seed->shape, value->shape, "they must agree"));
  return on_device(seed, value->device, value->shape);
}

/// Realizes reached parameters without storage, and gradients that are still lazy: accumulation needs the memory of one
/// micro-batch (G3, G4). Not in a jitted function: there they are the function's own values, and its one plan computes
/// them. Whether anything was realized.
bool realize_reached(const std::vector<ReachedLeaf>& reached) {
  if (Observer::current()) return false;
  std::vector<UOp> lazy;
  for (const ReachedLeaf& r : reached) {
    if (!r.leaf->storage()) lazy.push_back(r.leaf);
    if (r.cell->grad && !r.cell->grad->node->storage()) lazy.push_back(r.cell->grad->node.get());
  }
  // Without versions that depend on the forward pass, such as running statistics: the step computes those.
  tensor::realize(lazy, nullptr, IncludeAssigned::Independent);
  return !lazy.empty();
}

void accumulate_grad(const ReachedLeaf& r, UOp g, UOp loss) {
  Cell& cell = *r.cell;
  if (cell.grad) {
    cell.grad->node = ir::NodeRef(next_version(*cell.grad, cell.grad->node.get() + g));
  } else {
    TensorGraph& graph = TensorGraph::get();
    cell.grad = wrap(graph.make({Op::After, g->dtype, g->shape, {g}})).cell();
    cell.grad_taker.clear();
  }
  TensorGraph::get().set_loss(cell.grad->node.get(), loss);
}

/// Marks the walked nodes as consumed. Those with storage release their sources (G2).
void consume(const std::vector<UOp>& gradient_nodes) {
  TensorGraph& graph = TensorGraph::get();
  for (UOp n : gradient_nodes) {
    graph.retain(n);
    n->state.consumed |= !n->state.leaf;
  }
  for (UOp n : gradient_nodes)
    if (n->state.consumed && n->storage()) graph.drop_history(n);
  for (UOp n : gradient_nodes) graph.release(n);
}

}  // namespace

Tensor& Tensor::requires_grad(bool on, Loc where) {
  const Call call("requires_grad", where);
  UOp n = node_of(*this);
  Cell& cell = *cell_;
  if (!cell.leaf_id && n->state.requires_grad)
    usage_error(
        "{} is no leaf: it was computed from others that require grad, and to switch that {} here "
        "would cut its history; take detach() of it for a value without",
        tensor::describe(n), on ? "on" : "off");
  if (on == (cell.leaf_id != 0)) return *this;
  notify_change(cell_, "calls requires_grad() on");
  if (!on) {
    unregister_leaf(cell);
    cell.node = ir::NodeRef(ir::detach(n));
    return *this;
  }
  if (!is_float(n->dtype))
    usage_error("{} has no gradient: only floats have; convert it with .to(float32)", tensor::describe(n));
  const UOp leaf = new_leaf(n);
  cell.node = NodeRef(leaf);
  cell.leaf_id = leaf->state.leaf_id;
  register_leaf(cell_);
  return *this;
}

bool Tensor::needs_grad(Loc where) const {
  const Call call("needs_grad", where);
  return node_of(*this)->state.requires_grad;
}

void Tensor::backward(bool keep_graph, Loc where) const { backward(Tensor(), keep_graph, where); }

void Tensor::backward(const Tensor& seed, bool keep_graph, Loc where) const {
  const Call call("backward", where);
  // Another thread may assign the cells while parameters are realized.
  const ir::NodeRef held(node_of(*this));
  UOp loss = held.get();
  if (!loss->state.requires_grad)
    usage_error("{} depends on nothing that requires grad; call requires_grad() on the parameters before they are used",
                tensor::describe(loss));
  if (!seed.defined() && loss->rank() != 0)
    usage_error(
        "the value has shape {} and not [], so it has no single gradient; reduce it with sum() or "
        "mean() first, or give a seed of that shape",
        sinter::to_string(loss->shape));
  const ir::NodeRef factor(seed.defined() ? seed_of(seed, loss) : UOp());
  with_call_site([&] {
    std::vector<UOp> gradient_nodes = autodiff::gradient_nodes(loss);
    std::vector<ReachedLeaf> reached = reached_leaves(gradient_nodes);
    for (const ReachedLeaf& r : reached) notify_gradient_change(r.cell, "collects, by backward(), that of");
    while (realize_reached(reached)) {
      gradient_nodes = autodiff::gradient_nodes(loss);
      reached = reached_leaves(gradient_nodes);
    }
    std::vector<UOp> xs = mapped(reached, &ReachedLeaf::leaf);
    {
      const no_grad off;
      const std::vector<UOp> grads = autodiff::gradient(loss, factor.get() ? factor.get() : like(loss, 1.0), xs);
      for (size_t i = 0; i < reached.size(); ++i) accumulate_grad(reached[i], grads[i], loss);
    }
    if (!keep_graph) consume(gradient_nodes);
  });
}

namespace {

std::string why_no_gradient(const Cell& cell) {
  const UOp n = cell.node.get();
  if (!cell.grad_taker.empty()) return cell.grad_taker + "; read it before that";
  if (cell.leaf_id) return "backward() has not reached this tensor; call it on a loss that is computed from it";
  if (!n->state.requires_grad)
    return fmt::format("{} does not require grad; call requires_grad() on it before it is used", tensor::describe(n));
  const NodeOrigin& o = cell.origin;
  const std::string made = o.call.empty() ? "" : fmt::format("the result of {} at {}:{} and ", o.call, o.file, o.line);
  return fmt::format(
      "{} is {}no leaf, and only leaves keep theirs; call requires_grad() on what that call gives, not "
      "before it, or retain_grad() before backward()",
      tensor::describe(n), made);
}

}  // namespace

Tensor Tensor::grad(Loc where) const {
  const Call call("grad", where);
  node_of(*this);
  notify_gradient(cell_);
  if (!cell_->grad) usage_error("there is no gradient: " + why_no_gradient(*cell_));
  return Tensor(cell_->grad);
}

bool Tensor::has_grad(Loc where) const {
  const Call call("has_grad", where);
  node_of(*this);
  notify_gradient(cell_);
  return cell_->grad != nullptr;
}

void Tensor::set_grad(const Tensor& grad, Loc where) {
  const Call call("set_grad", where);
  UOp n = node_of(*this), g = node_of(grad);
  if (n->shape != g->shape || n->dtype != g->dtype)
    usage_error("the gradient is {} and the tensor {}; {}", tensor::describe(g), tensor::describe(n),
                mismatch_hint(g->shape, n->shape, "they must agree"));
  notify_gradient_change(cell_, "sets the gradient of");
  if (grad.cell() == cell_) usage_error("a tensor cannot be its own gradient; give a clone");
  const UOp beside = on_device(g, n->device, n->shape);  // a number may have changed devices
  cell_->grad = beside == g ? grad.cell() : wrap(beside).cell();
  cell_->grad_taker.clear();
}

void Tensor::zero_grad(Loc where) {
  const Call call("zero_grad", where);
  node_of(*this);
  if (cell_->grad) notify_gradient_change(cell_, "takes the gradient of");
  drop_gradient(*cell_, "zero_grad() took it");
}

std::vector<Tensor> gradient(const Tensor& y, std::span<const Tensor> xs, const Tensor& seed, Loc where) {
  const Call call("gradient", where);
  UOp root = node_of(y);
  UOp s;
  if (seed.defined()) {
    s = seed_of(seed, root);
  } else if (root->shape.numel() != 1) {
    usage_error("the value has shape {}; give a seed of that shape, or reduce it with sum() or mean() first",
                to_string(root->shape));
  } else {
    s = like(root, 1.0);
  }
  if (xs.empty()) return {};
  std::vector<UOp> nodes = mapped(xs, [&](const Tensor& x) { return node_of(x); });
  std::vector<Tensor> out;
  for (UOp g : with_call_site([&] { return autodiff::gradient(root, s, nodes); })) out.push_back(wrap(g));
  return out;
}

no_grad::no_grad() : before_(grad_enabled()) { set_grad_enabled(false); }
no_grad::~no_grad() { set_grad_enabled(before_); }
enable_grad::enable_grad() : before_(grad_enabled()) { set_grad_enabled(true); }
enable_grad::~enable_grad() { set_grad_enabled(before_); }

}  // namespace sinter::inline v0
