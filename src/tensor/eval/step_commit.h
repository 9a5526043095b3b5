// What an optimizer's step() writes: new versions of cells, computed in one plan. The cells switch once nothing can
// fail before the launch (SEMANTICS G5, V6).
#pragma once

#include <memory>
#include <vector>

#include "tensor/core/cell.h"

namespace sinter::tensor {

class StepCommit {
 public:
  StepCommit() = default;
  ~StepCommit();
  StepCommit(const StepCommit&) = delete;
  StepCommit& operator=(const StepCommit&) = delete;

  /// Prepares the next version of `target`: `value` in its dtype, broadcast to its shape. The returned handle reads
  /// that version; `target` keeps its own until realize(). Under no_grad.
  Tensor update(const Tensor& target, const Tensor& value);
  /// The step consumes the gradient of this parameter.
  void take_grad(const Tensor& param);
  /// Computes, in one plan, all updates and the losses behind gradients that are still held, and switches the cells.
  /// Values of the step that handles hold at this moment are stored too, so release them before. Throws as realize()
  /// does. In a jitted function the updates are assigned, and nothing is computed here. If nothing was launched, cells
  /// and gradients are unchanged, and the step can be retried.
  void realize();
  /// Whether the cells have switched. If realize() threw all the same, the values are poisoned or, where the
  /// interpreter was out of memory, still to be computed.
  bool switched() const { return switched_; }

 private:
  friend class Realization;
  struct CellUpdate {
    std::shared_ptr<Cell> cell;
    ir::NodeRef version;
  };
  /// References that end with the switch: from cells to their versions, and to gradients that nobody else holds.
  std::vector<ir::UOp> dying_refs() const;
  bool switches(const Cell* cell) const;
  void switch_cells();
  void install_all();

  std::vector<CellUpdate> updates_;
  std::vector<std::shared_ptr<Cell>> taken_grads_;
  bool switched_ = false;
};

}  // namespace sinter::tensor
