// What a step() writes: new versions of cells, computed in one plan, which take the cells' places when nothing can fail
// before the launch any more (SEMANTICS G5, V6). For optimisers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tensor/core/cell.h"

namespace sinter::tensor {

class StepCommit {
 public:
  StepCommit() = default;
  ~StepCommit();
  StepCommit(const StepCommit&) = delete;
  StepCommit& operator=(const StepCommit&) = delete;

  /// The next version of `target`: `value`, broadcast to its shape and of its dtype. Reads of the handle that comes
  /// back see it, `target` keeps its version until realize(). Under no_grad.
  Tensor update(const Tensor& target, const Tensor& value);
  /// The step uses up the gradient of this parameter.
  void take_grad(const Tensor& param);
  /// Computes all updates, and the losses behind the gradients that someone still holds, in one plan, and switches the
  /// cells. Values of the step that handles hold at this moment are stored too: let them go before. Throws as realize()
  /// does: if nothing was launched, cells and gradients are as they were, and all can be tried again.
  void realize();

 private:
  friend class Realization;
  struct CellUpdate {
    std::shared_ptr<Cell> cell;
    ir::NodeRef version;
  };
  /// References that end with the switch: of cells to their versions, and to gradients that nobody else holds.
  std::vector<ir::UOp> ending() const;
  bool switches(const Cell* cell) const;
  void switch_cells();

  std::vector<CellUpdate> updates_;
  std::vector<std::shared_ptr<Cell>> taken_grads_;
};

}  // namespace sinter::tensor
