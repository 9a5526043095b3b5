#include "tensor/transform/graph_copy.h"

#include "ir/build.h"
#include "ir/lists.h"
#include "ir/walk.h"

namespace sinter::tensor {

std::vector<UOp> GraphCopy::run(std::vector<UOp> roots) {
  const size_t asked = roots.size();
  const auto is_open = [&](UOp n) { return !now_.contains(n.get()); };
  for (size_t i = 0; i < roots.size(); ++i)  // grows: by what is behind checkpoints
    for (UOp n : topological(std::span<const UOp>(&roots[i], 1), is_open)) {
      if (!is_open(n)) continue;
      if (n->op == Op::Custom && n->state.loss) roots.emplace_back(n->state.loss);
      now_.emplace(n.get(), copy(n));
    }
  for (const auto& [made, inner] : losses_) TensorGraph::get().set_loss(made, now_.at(inner));
  roots.resize(asked);
  return mapped(roots, [&](UOp root) { return now_.at(root.get()); });
}

UOp GraphCopy::copy(UOp n) {
  Sources src;
  bool changed = false;
  for (UOp s : n->src) {
    src.push_back(now_.at(s.get()));
    changed |= src.back() != s;
  }
  if (!changed || n->op == Op::Leaf) return n;
  if (n->op == Op::Detach) return detach(src[0]);
  TensorGraph& graph = TensorGraph::get();
  const UOp made = graph.make({n->op, n->dtype, n->shape, std::move(src), n->attr, n->device});
  graph.set_origin(made, *n->state.origin);
  if (!made->state.requires_grad) return made;
  for (const std::shared_ptr<const UserRule>& hook : hooks_of(n)) add_hook(made, hook);
  if (n->op != Op::Custom) return made;
  if (const std::shared_ptr<const RuleGroup> group = rule_group(n)) {
    std::shared_ptr<const RuleGroup>& again = groups_[group.get()];
    if (!again) again = std::make_shared<RuleGroup>(*group);
    set_rule_group(made, again);
  }
  if (n->state.loss) losses_.emplace_back(made, n->state.loss);
  return made;
}

}  // namespace sinter::tensor
