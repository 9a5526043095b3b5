// Collects the cells of a step and switches them.
#include "tensor/eval/step_commit.h"

#include <utility>

#include "tensor/core/cell_version.h"
#include "tensor/core/operands.h"
#include "tensor/eval/realize.h"

namespace sinter::tensor {

StepCommit::~StepCommit() = default;

Tensor StepCommit::update(const Tensor& target, const Tensor& value) {
  GraphScope scope;
  UOp old = node_of(target);
  UOp version = next_version(*target.cell(), broadcast_to_part(cast(node_of(value), old->dtype), old, old->shape));
  updates_.push_back({target.cell(), NodeRef(version)});
  return wrap(version);
}

void StepCommit::take_grad(const Tensor& param) { taken_grads_.push_back(param.cell()); }

void StepCommit::realize() {
  GraphScope scope;
  if (Observer::current()) return install_all();
  std::vector<UOp> versions = mapped(updates_, [](const CellUpdate& p) { return p.version.get(); });
  tensor::realize(versions, this);
  updates_.clear();
  taken_grads_.clear();
}

/// In a jitted function: its one plan computes them.
void StepCommit::install_all() {
  for (const auto& p : taken_grads_) Observer::current()->on_gradient_change(p, "takes the gradient of");
  for (const CellUpdate& p : updates_) install(p.cell, p.version.get());
  for (const auto& p : taken_grads_) drop_gradient(*p, "step() took it");
  updates_.clear();
  taken_grads_.clear();
}

std::vector<UOp> StepCommit::dying_refs() const {
  std::vector<UOp> out = mapped(updates_, [](const CellUpdate& p) { return p.cell->node.get(); });
  for (const auto& p : taken_grads_)
    if (p->grad && p->grad.use_count() == 1) out.push_back(p->grad->node.get());
  return out;
}

bool StepCommit::switches(const Cell* cell) const {
  for (const CellUpdate& p : updates_)
    if (p.cell.get() == cell) return true;
  return false;
}

void StepCommit::switch_cells() {
  for (CellUpdate& p : updates_) p.cell->node = std::move(p.version);
  switched_ = true;
  for (const auto& p : taken_grads_) drop_gradient(*p, "step() took it");
  updates_.clear();
}

}  // namespace sinter::tensor
