// The device of a call: that it exists, and that what the call joins lies on one.
#pragma once

#include <span>

#include "ir/node.h"

namespace sinter::tensor {

/// UsageError for a device that does not exist.
void check_device(Device device);
/// x for use on that device, where a tensor of shape `beside` is: a number (a constant or launch argument of rank 0) is
/// written anew there. UsageError for anything else that lies elsewhere.
[[nodiscard]] ir::UOp on_device(ir::UOp x, Device device, const Shape& beside);
/// Brings both to one device: numbers go where they are needed. UsageError for two tensors on different ones.
void unify_devices(ir::UOp& a, ir::UOp& b);
/// The same of at least one.
void unify_devices(std::span<ir::UOp> nodes);

}  // namespace sinter::tensor
