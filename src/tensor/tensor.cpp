// What a tensor is: shape, type, device; and conversions of type and place.
#include "sinter/tensor.h"

#include "tensor/axes.h"
#include "tensor/operands.h"

namespace sinter {
inline namespace v0 {

using tensor::Call;
using tensor::node_of;

namespace {

/// The node of a handle for a question that fails for empty handles only: the call is opened for its error alone.
ir::UOp asked(const Tensor& t, const char* call, Loc where) {
  if (t.defined()) return node_of(t);
  const Call opened(call, where);
  return node_of(t);
}

}  // namespace

Shape Tensor::shape(Loc where) const { return asked(*this, "shape", where)->shape; }
int64_t Tensor::rank(Loc where) const { return static_cast<int64_t>(asked(*this, "rank", where)->rank()); }
int64_t Tensor::numel(Loc where) const { return asked(*this, "numel", where)->shape.numel(); }
DType Tensor::dtype(Loc where) const { return asked(*this, "dtype", where)->dtype; }
Device Tensor::device(Loc where) const { return asked(*this, "device", where)->device; }
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
  tensor::check_device(device);
  return tensor::wrap(ir::copy(x, device));
}
Tensor Tensor::cuda(int index, Loc where) const { return to(Device::cuda(index), where); }
Tensor Tensor::cpu(Loc where) const { return to(Device::cpu(), where); }

Tensor Tensor::contiguous(Loc where) const {
  Call call("contiguous", where);
  return tensor::wrap(ir::contiguous(node_of(*this)));
}

}  // namespace v0
}  // namespace sinter
