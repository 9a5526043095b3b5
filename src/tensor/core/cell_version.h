// Versions of cells (SEMANTICS V1, V2, V5): how an assign makes one, and which thread owes which.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tensor/core/cell.h"

namespace sinter::tensor {

/// The next version of the cell, not installed: `value` in the box, or everywhere without one. `value` has the dtype of
/// the cell and the shape of the box. Inside a GraphScope.
ir::UOp next_version(const Cell& cell, ir::UOp value, const std::optional<ir::Region>& box = {});

/// Installs it, and notes that the calling thread owes it.
void install(const std::shared_ptr<Cell>& cell, ir::UOp version);

/// The next version is the value of this one on that device, as is that of its gradient. A leaf stays the leaf that it
/// is (SEMANTICS V5).
void move_to_device(const std::shared_ptr<Cell>& cell, Device device);

/// The versions without storage of cells that the calling thread has assigned, in program order, but for cells that
/// `skip` names. Holds no cell: handles are counted elsewhere.
std::vector<ir::UOp> assigned_versions(const std::function<bool(const Cell&)>& skip);
/// Forgets the cells that are gone or stored.
void forget_stored_versions();
/// Forgets all of them.
void forget_assigned_versions();

/// Takes the gradient off the cell; `grad_taker` is named by the error of whoever asks for it afterwards.
void drop_gradient(Cell& cell, const std::string& grad_taker);

}  // namespace sinter::tensor
