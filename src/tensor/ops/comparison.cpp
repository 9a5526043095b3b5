// Comparisons within a tolerance, and of whole tensors.
#include "sinter/ops.h"
#include "tensor/core/operands.h"

namespace sinter {
inline namespace v0 {

using ir::UOp;

Tensor isclose(Arg a, Arg b, double rtol, double atol, bool equal_nan) {
  tensor::Call call("isclose", a.where());
  const DType dtype = tensor::common_type({&a, &b});
  const ir::Sources n = tensor::operands({&a, &b}, dtype);
  UOp close = ir::eq(n[0], n[1]);
  if (equal_nan && is_float(dtype)) close = close | (ir::ne(n[0], n[0]) & ir::ne(n[1], n[1]));
  const DType computed = is_float(dtype) ? ir::to_compute_type(n[0])->dtype : DType::F32;
  UOp x = ir::cast(n[0], computed), y = ir::cast(n[1], computed);
  UOp difference = ir::alu(ir::Op::Abs, {x - y}), allowed = ir::alu(ir::Op::Abs, {y * rtol}) + atol;
  UOp finite = ir::lt(difference, ir::like(x, std::numeric_limits<double>::infinity()));
  return tensor::wrap(close | (finite & ir::le(difference, allowed)));
}

bool allclose(Arg a, Arg b, double rtol, double atol, bool equal_nan) {
  const tensor::OuterCall call("allclose", a.where());
  return isclose(a, b, rtol, atol, equal_nan).all().item<bool>(a.where());
}

bool equal(Arg a, Arg b) {
  const tensor::OuterCall call("equal", a.where());
  const auto shape = [](const Arg& x) { return x.is_tensor() ? Tensor(x.cell()).shape() : Shape{}; };
  return shape(a) == shape(b) && (a == b).all().item<bool>(a.where());
}

}  // namespace v0
}  // namespace sinter
