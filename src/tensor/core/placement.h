// The device of a call: it must exist, and all operands must be on one.
#pragma once

#include <span>

#include "ir/node.h"

namespace sinter::tensor {

/// UsageError for a device that does not exist.
void check_device(Device device);
/// x on that device, which has a tensor of shape `beside`. A number (a constant or launch argument of rank 0) is
/// recreated there. UsageError for anything else that is on another device.
[[nodiscard]] ir::UOp on_device(ir::UOp x, Device device, const Shape& beside);
/// Brings both to one device: numbers move to the tensor's. UsageError for two tensors on different devices.
void unify_devices(ir::UOp& a, ir::UOp& b);
/// The same for one or more nodes.
void unify_devices(std::span<ir::UOp> nodes);

}  // namespace sinter::tensor
