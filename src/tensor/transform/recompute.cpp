// checkpoint(): a value whose gradient is that of its graph built again. The graph that the gradient differentiates
// begins at barriers: it is no part of the forward pass, and is computed once the gradient of the value is there.
#include "gradient/reverse.h"
#include "ir/build.h"
#include "ir/contains.h"
#include "ir/splat.h"
#include "ir/user_rule.h"
#include "ir/walk.h"
#include "sinter/custom_gradient.h"
#include "sinter/gradient.h"
#include "tensor/core/operands.h"
#include "tensor/core/user_call.h"
#include "tensor/transform/graph_copy.h"
#include "tensor/transform/vmap.h"

namespace sinter {
namespace tensor {
namespace {

/// A leaf without memory, whose attribute is its value.
bool is_number(UOp n) { return n->op == Op::Const || n->op == Op::Arange || n->op == Op::Var || n->op == Op::Num; }

/// The node has sources value, inputs; its loss is the value with its history.
class RecomputeRule final : public UserRule {
 public:
  /// The first `given` inputs are arguments of the call, the others were found in the graph.
  explicit RecomputeRule(size_t given) : given_(given) {}

  std::vector<UOp> gradients(const Call& call) const override {
    const UOp gradient = call.gradients[0], root = call.node->state.loss;
    const UOp wait = gradient->shape.numel() ? gradient : UOp();
    std::vector<UOp> made(call.arguments.size()), inputs, wanted;
    std::vector<size_t> places;
    UOp again;
    {
      const enable_grad history;
      GraphCopy copy;
      for (size_t i = 0; i < made.size(); ++i) {
        inputs.push_back(input(i, call.arguments[i], wait));
        copy.replace(call.node->src[1 + i], inputs[i]);
        if (!call.wanted[i] || !inputs[i]->state.requires_grad) continue;
        wanted.push_back(inputs[i]);
        places.push_back(i);
      }
      again = copy.run({root})[0];
    }
    const std::vector<UOp> found = autodiff::gradient(again, gradient, used(again, wanted, places));
    for (size_t k = 0; k < found.size(); ++k) made[places[k]] = found[k];
    return made;
  }
  std::shared_ptr<const UserRule> batched(UOp node, const Dim& count) const override {
    return batched_rule(std::make_shared<RecomputeRule>(*this), node, count);
  }

 private:
  /// A node of its own for an input: its gradient ends there.
  UOp input(size_t i, UOp n, UOp wait) const {
    const bool lies_there = n->state.leaf || n->storage();
    if (wait && (i < given_ || !lies_there)) return barrier(n, wait);
    return TensorGraph::get().make({Op::After, n->dtype, n->shape, {n}});
  }
  /// Those that the value depends on: an argument may come twice, or not at all.
  static std::vector<UOp>& used(UOp value, std::vector<UOp>& wanted, std::vector<size_t>& places) {
    const std::vector<UOp> order = autodiff::gradient_nodes(value);
    size_t kept = 0;
    for (size_t k = 0; k < wanted.size(); ++k) {
      if (!contains(order, wanted[k])) continue;
      wanted[kept] = wanted[k];
      places[kept++] = places[k];
    }
    wanted.resize(kept);
    places.resize(kept);
    return wanted;
  }

  const size_t given_;
};

}  // namespace
}  // namespace tensor

inline namespace v0 {

using namespace tensor;

namespace transforms {

Tensor checkpoint(const TensorFunction& f, const std::vector<Tensor>& x, Loc where) {
  const OuterCall call("checkpoint", where);
  if (!grad_enabled()) return call_program_in_scope([&] { return f(x); });
  std::vector<Tensor> given;
  uint64_t newest = 0;
  {
    const GraphScope scope;
    for (const Tensor& t : x) given.push_back(wrap(contiguous(node_of(t))));
    newest = launch_argument(Scalar::of(DType::I64, 0), DType::I64, Device::cpu())->id;
  }
  Tensor value = call_program_in_scope([&] { return f(given); });
  const GraphScope scope;
  const UOp root = node_of(value);
  if (!root->state.requires_grad || root->id <= newest) return value;
  Sources src{detach(root)};
  for (const Tensor& t : given) src.push_back(node_of(t));
  const auto made_by_f = [newest](UOp n) { return n->id > newest; };
  for (UOp n : topological(std::span<const UOp>(&root, 1), made_by_f))
    if (!made_by_f(n) && !is_number(n) && !splat_const(n) && !contains(src, n)) src.push_back(n);
  for (UOp n : src)
    if (n->device != root->device)
      usage_error("the value lies on {} and something that it is computed from on {}; move all to one device before",
                  to_string(root->device), to_string(n->device));
  TensorGraph& graph = TensorGraph::get();
  const UOp n = graph.make({Op::Custom, root->dtype, root->shape, std::move(src), int64_t{0}});
  graph.set_loss(n, root);
  set_rule_group(n, std::make_shared<RuleGroup>(RuleGroup{std::make_shared<RecomputeRule>(x.size()), 1}));
  return wrap(n);
}

}  // namespace transforms
}  // namespace v0
}  // namespace sinter
