// A graph built again from other inputs.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/user_rule.h"
#include "tensor/core/cell.h"

namespace sinter::tensor {

/// What is computed from a replaced node is made anew, with the history that the open scope records, with its hooks and
/// rules of gradients; the rest stays. Inside one GraphScope.
class GraphCopy {
 public:
  /// Before run(). `by` has the input's shape, dtype and device.
  void replace(UOp input, UOp by) { now_.emplace(input.get(), by); }
  /// What stands for each of the roots.
  std::vector<UOp> run(std::vector<UOp> roots);

 private:
  UOp copy(UOp n);

  std::unordered_map<const Node*, UOp> now_;
  std::vector<std::pair<UOp, const Node*>> losses_;  ///< copies of checkpoints, and the graphs behind the originals
  std::unordered_map<const RuleGroup*, std::shared_ptr<const RuleGroup>> groups_;
};

}  // namespace sinter::tensor
