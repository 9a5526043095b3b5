// Properties of a tensor (shape, dtype, device), and conversions of dtype and device.
#include "sinter/tensor.h"

#include <optional>

#include "tensor/core/axes.h"
#include "tensor/core/operands.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// Answers a question about the tensor's node. It fails only for an empty handle; the call is opened only for that
/// error.
template <class Answer>
auto ask(const Tensor& t, const char* call, Loc where, Answer answer) {
  std::optional<Call> opened;
  if (!t.defined()) opened.emplace(call, where);
  const GraphScope scope;  // another thread may install the next version and release this node
  return answer(*node_of(t));
}

}  // namespace

Shape Tensor::shape(Loc where) const {
  return ask(*this, "shape", where, [](const Node& n) { return n.shape; });
}
int64_t Tensor::rank(Loc where) const {
  return ask(*this, "rank", where, [](const Node& n) { return static_cast<int64_t>(n.rank()); });
}
int64_t Tensor::numel(Loc where) const {
  return ask(*this, "numel", where, [](const Node& n) { return n.shape.numel(); });
}
DType Tensor::dtype(Loc where) const {
  return ask(*this, "dtype", where, [](const Node& n) { return n.dtype; });
}
Device Tensor::device(Loc where) const {
  return ask(*this, "device", where, [](const Node& n) { return n.device; });
}
Dim Tensor::size(int64_t axis, Loc where) const {
  Call call("size", where);
  UOp x = node_of(*this);
  return x->shape[axis_of(x, axis)];
}

Tensor Tensor::to(DType dtype, Loc where) const {
  Call call("to", where);
  UOp x = node_of(*this);
  check_usable(dtype);
  return wrap(cast(x, dtype));  // a cell of its own even if nothing changes (SEMANTICS H1)
}

Tensor Tensor::to(Device device, Loc where) const {
  Call call("to", where);
  UOp x = node_of(*this);
  check_device(device);
  return wrap(copy(x, device));
}
Tensor Tensor::cuda(int index, Loc where) const { return to(Device::cuda(index), where); }
Tensor Tensor::cpu(Loc where) const { return to(Device::cpu(), where); }

Tensor Tensor::contiguous(Loc where) const {
  Call call("contiguous", where);
  return wrap(ir::contiguous(node_of(*this)));
}

}  // namespace sinter::inline v0
