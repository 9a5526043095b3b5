// One walk over the pending nodes finds the COPYs, and those that wait for no other.
#include "tensor/eval/split_by_device.h"

#include "ir/contains.h"
#include "ir/walk.h"
#include "tensor/eval/realize.h"

namespace sinter::tensor {
namespace {

bool pending(UOp n) { return !n->storage(); }

/// The pending nodes behind the roots, sources first. It includes the losses of pending gradients, which a plan walks
/// too.
std::vector<UOp> walk(std::span<const UOp> roots) {
  std::vector<UOp> from(roots.begin(), roots.end());
  for (;;) {
    std::vector<UOp> order = topological(from, pending);
    const size_t known = from.size();
    for (UOp n : order)
      if (Node* loss = n->state.loss; loss && pending(n) && pending(loss) && loss->mark != n->mark)
        from.push_back(loss);
    if (from.size() == known) return order;
  }
}

/// Adds the node to the plan of its device.
void add(std::vector<std::vector<UOp>>& plans, UOp n) {
  for (std::vector<UOp>& roots : plans)
    if (roots[0]->device == n->device) {
      if (!contains(roots, n)) roots.push_back(n);
      return;
    }
  plans.push_back({n});
}

/// The value that a COPY copies. DETACHes are skipped: they are no values of their own.
UOp source_of(UOp copy) {
  UOp s = copy->src[0];
  while (pending(s) && s->op == Op::Detach) s = s->src[0];
  return s;
}

}  // namespace

DeviceSplit split_by_device(std::span<const UOp> roots) {
  const std::vector<UOp> order = walk(roots);
  std::vector<uint8_t> waits(order.size());  // the node is a pending COPY or depends on one
  std::vector<UOp> ready;
  for (size_t i = 0; i < order.size(); ++i) {
    if (!pending(order[i])) continue;
    for (UOp s : order[i]->src) waits[i] |= waits[s->position];
    if (order[i]->op != Op::Copy) continue;
    if (!waits[i]) ready.push_back(order[i]);
    waits[i] = 1;
  }
  DeviceSplit out;
  if (ready.empty()) {
    for (UOp r : roots) add(out.plans, r);
    out.last = true;
    return out;
  }
  auto sources = mapped<Sources>(ready, [&](UOp copy) { return source_of(copy); });
  for (UOp s : sources) share_base_memory(s);
  for (UOp r : roots_for(sources)) add(out.plans, r);
  out.copies = out.plans.empty();
  if (out.copies) out.plans.push_back(std::move(ready));
  return out;
}

}  // namespace sinter::tensor
