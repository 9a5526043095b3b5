// What a tensor is: shape, type, device; and conversions of type and place.
#include "sinter/tensor.h"

#include <fmt/core.h>

#include "tensor/axes.h"
#include "tensor/operands.h"

namespace sinter {
inline namespace v0 {

using tensor::Call;
using tensor::node_of;

Shape Tensor::shape() const { return node_of(*this)->shape; }
int64_t Tensor::rank() const { return static_cast<int64_t>(node_of(*this)->rank()); }
int64_t Tensor::numel() const { return node_of(*this)->shape.numel(); }
DType Tensor::dtype() const { return node_of(*this)->dtype; }
Device Tensor::device() const { return node_of(*this)->device; }
Dim Tensor::size(int64_t axis, Loc where) const {
  Call call("size", where);
  ir::UOp x = node_of(*this);
  return x->shape[static_cast<size_t>(tensor::axis_of(x, axis))];
}

Tensor Tensor::to(DType dtype, Loc where) const {
  Call call("to", where);
  ir::UOp x = node_of(*this);
  tensor::check_usable(dtype);
  return tensor::wrap(ir::cast(x, dtype));  // a cell of its own also when nothing changes (SEMANTICS H1)
}

Tensor Tensor::to(Device device, Loc where) const {
  Call call("to", where);
  ir::UOp x = node_of(*this);
  if (!(device == Device::cpu()))
    tensor::usage_error(fmt::format("{} is not available in this build, the tensor stays on {}; only cpu is",
                                    sinter::to_string(device), sinter::to_string(x->device)));
  return tensor::wrap(x);
}

Tensor Tensor::contiguous(Loc where) const {
  Call call("contiguous", where);
  return tensor::wrap(ir::contiguous(node_of(*this)));
}

}  // namespace v0
}  // namespace sinter
