// One walk over what is pending: which COPYs there are, and which of them wait for no other.
#include "tensor/divide.h"

#include <algorithm>

#include "uop/tensor_graph.h"

namespace sinter::tensor {
namespace {

using ir::Op;
using ir::UOp;

bool pending(UOp n) { return !n->storage(); }

/// Pending nodes behind the roots, sources first, and those behind the losses of gradients among them, which a plan walks too.
std::vector<UOp> walk(std::span<const UOp> roots) {
  const uint64_t mark = ir::TensorGraph::get().next_mark();
  std::vector<UOp> order;
  std::vector<std::pair<UOp, size_t>> stack;
  const auto push = [&](UOp n) {
    if (n->mark == mark || !pending(n)) return;
    n->mark = mark;
    stack.emplace_back(n, 0);
  };
  const auto finish = [&] {
    while (!stack.empty()) {
      auto& [n, next] = stack.back();
      if (next < n->src.size()) {
        push(n->src[next++]);
        continue;
      }
      n->position = static_cast<uint32_t>(order.size());
      order.push_back(n);
      stack.pop_back();
    }
  };
  for (UOp r : roots) {
    push(r);
    finish();
  }
  for (size_t i = 0; i < order.size(); ++i)
    if (ir::Node* loss = order[i]->state.loss) {
      push(loss);
      finish();
    }
  return order;
}

/// Adds the node to the plan of its device.
void add(std::vector<std::vector<UOp>>& plans, UOp n) {
  for (std::vector<UOp>& roots : plans)
    if (roots[0]->device == n->device) {
      if (std::find(roots.begin(), roots.end(), n) == roots.end()) roots.push_back(n);
      return;
    }
  plans.push_back({n});
}

/// The value that a COPY copies: a DETACH is no value of its own.
UOp source_of(UOp copy) {
  UOp s = copy->src[0];
  while (pending(s) && s->op == Op::Detach) s = s->src[0];
  return s;
}

}  // namespace

Division divide(std::span<const UOp> roots) {
  const std::vector<UOp> order = walk(roots);
  std::vector<uint8_t> waits(order.size());  // a COPY is pending there or behind it
  std::vector<UOp> ready;
  for (size_t i = 0; i < order.size(); ++i) {
    for (UOp s : order[i]->src) waits[i] |= pending(s) && waits[s->position];
    if (order[i]->op != Op::Copy) continue;
    if (!waits[i]) ready.push_back(order[i]);
    waits[i] = 1;
  }
  Division out;
  if (ready.empty()) {
    for (UOp r : roots) add(out.plans, r);
    out.last = true;
    return out;
  }
  for (UOp copy : ready)
    if (UOp s = source_of(copy); pending(s)) add(out.plans, s);
  out.copies = out.plans.empty();
  if (out.copies) out.plans.push_back(std::move(ready));
  return out;
}

}  // namespace sinter::tensor
