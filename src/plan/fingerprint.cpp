// Records, compares and rebinds fingerprints.
#include "plan/fingerprint.h"

namespace sinter::plan {
namespace {

using ir::Storage;
using ir::UOp;

enum NodeFlags : uint8_t { kStored = 1, kHeld = 2, kHistory = 4, kRequiresGrad = 8, kLeaf = 16 };

uint8_t state_of(UOp n, const Liveness& liveness) {
  return static_cast<uint8_t>((n->storage() ? kStored : 0) | (liveness.held(n) ? kHeld : 0) |
                              (n->has_history() ? kHistory : 0) | (n->state.requires_grad ? kRequiresGrad : 0) |
                              (n->state.leaf ? kLeaf : 0));
}

/// The storage of a node's value, or the one it may be written to.
Storage* memory_of(UOp n) { return n->storage() ? n->storage() : n->state.home; }

/// Whether two forms are interchangeable. For a value with storage, the op that made it does not count. The value of a
/// NUM does not count because it is rebound.
bool alike(const ir::NodeForm& a, const ir::NodeForm& b, bool stored) {
  return a.dtype == b.dtype && a.device == b.device && a.shape == b.shape &&
         (stored || (a.op == ir::Op::Num && b.op == ir::Op::Num));
}

}  // namespace

/// Numbers storages in order of first use, by marks: only one numbering can be active.
class Fingerprint::StorageNumbering {
 public:
  StorageNumbering() : mark_(ir::TensorGraph::get().next_mark()) {}
  int32_t number(Storage* storage) {
    if (!storage) return -1;
    if (storage->mark != mark_) {
      storage->mark = mark_;
      storage->position = met_++;
    }
    return static_cast<int32_t>(storage->position);
  }

 private:
  const uint64_t mark_;
  uint32_t met_ = 0;
};

Fingerprint::Fingerprint(const Request& request, const Liveness& liveness, const CanonicalProgram& plan,
                         const PlanKey& plan_key) {
  const auto places = [](const auto& nodes) { return ir::mapped(nodes, [](UOp n) { return n->position; }); };
  StorageNumbering slots;
  nodes_.reserve(liveness.order.size());
  for (UOp n : liveness.order) {
    NodePrint met{.form = retain_form(n->form),
                  .state = state_of(n, liveness),
                  .slot = slots.number(n->storage()),
                  .home = -1,
                  .sources = {}};
    if (!n->storage()) {
      met.home = slots.number(n->state.home);
      for (UOp s : n->src) met.sources.push_back(s->position);
    }
    nodes_.push_back(std::move(met));
  }
  roots_ = places(request.roots);
  plan_nodes_ = places(plan.nodes);
  constants_ = places(plan.constants);
  for (size_t i = 0; i < plan.positions.size(); ++i) {
    UOp n = plan.positions[i].node;
    positions_.push_back(n->position);
    if (n->op == ir::Op::Num && !n->storage()) nums_.push_back({n->position, plan_key.first_number[i]});
  }
  for (const StorageUse& use : plan.storages)
    storages_.push_back({use.node->position, alignment_of(*use.storage), use.writable()});
}

bool Fingerprint::matches(const Request& request, const Liveness& liveness, const CanonicalProgram& plan) const {
  if (liveness.order.size() != nodes_.size() || request.roots.size() != roots_.size()) return false;
  for (size_t i = 0; i < roots_.size(); ++i)
    if (request.roots[i]->position != roots_[i]) return false;
  StorageNumbering slots;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    UOp n = liveness.order[i];
    const NodePrint& met = nodes_[i];
    if (state_of(n, liveness) != met.state || slots.number(n->storage()) != met.slot) return false;
    if (&n->form != met.form.get() && !alike(n->form, *met.form, n->storage())) return false;
    if (n->storage()) continue;
    if (slots.number(n->state.home) != met.home || n->src.size() != met.sources.size()) return false;
    for (size_t s = 0; s < met.sources.size(); ++s)
      if (n->src[s]->position != met.sources[s]) return false;
  }
  for (size_t i = 0; i < storages_.size(); ++i) {
    const StoragePrint& use = storages_[i];
    UOp n = liveness.order[use.node];
    const StorageUse now{memory_of(n), n, plan.storages[i].owners};
    if (alignment_of(*now.storage) != use.alignment || now.writable() != use.writable) return false;
  }
  return true;
}

void Fingerprint::rebind(const Liveness& liveness, CanonicalProgram& plan, PlanKey& plan_key) const {
  for (size_t i = 0; i < plan_nodes_.size(); ++i) plan.nodes[i] = liveness.order[plan_nodes_[i]];
  for (size_t i = 0; i < positions_.size(); ++i) plan.positions[i].node = liveness.order[positions_[i]];
  for (size_t i = 0; i < constants_.size(); ++i) plan.constants[i] = liveness.order[constants_[i]];
  for (size_t i = 0; i < storages_.size(); ++i) {
    UOp n = liveness.order[storages_[i].node];
    plan.storages[i].node = n;
    plan.storages[i].storage = memory_of(n);
  }
  for (const Num& num : nums_) plan_key.numbers[num.number].value = liveness.order[num.node]->scalar();
}

}  // namespace sinter::plan
