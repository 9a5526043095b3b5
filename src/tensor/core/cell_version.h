// Versions of cells (SEMANTICS V1, V2, V5): how an assign makes one, and which thread has to compute which.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tensor/core/cell.h"

namespace sinter::tensor {

/// The next version of the cell, not installed: `value` written into the box, or everywhere without a box. `value` has
/// the shape of the box and the dtype of the cell; only a whole value of another dtype gives the cell that one. Inside
/// a GraphScope.
ir::UOp next_version(const Cell& cell, ir::UOp value, const std::optional<ir::Region>& box = {});

/// A leaf of its own with the value of n, on its device and in its memory. Inside a GraphScope.
ir::UOp new_leaf(ir::UOp n);

/// Installs the version and records that the calling thread has to compute it.
void install(const std::shared_ptr<Cell>& cell, ir::UOp version);

/// Installs a next version: the present value on that device. Its gradient moves too. A leaf remains the same leaf
/// (SEMANTICS V5).
void move_to_device(const std::shared_ptr<Cell>& cell, Device device);
/// The same for another float type.
void convert_dtype(const std::shared_ptr<Cell>& cell, DType dtype);

/// The versions without storage of the cells that the calling thread has assigned, in program order. Cells for which
/// `skip` is true are left out. Holds no cell: handles are counted elsewhere.
std::vector<ir::UOp> assigned_versions(const std::function<bool(const Cell&)>& skip);
/// Drops the cells that are gone or stored from the calling thread's list.
void forget_stored_versions();
/// Clears the calling thread's list.
void forget_assigned_versions();

/// Removes the cell's gradient. `grad_taker` is named by the error of a later grad().
void drop_gradient(Cell& cell, const std::string& grad_taker);

}  // namespace sinter::tensor
