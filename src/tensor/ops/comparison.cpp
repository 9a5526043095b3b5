// Comparisons within a tolerance, and of whole tensors.
#include "sinter/ops.h"
#include "tensor/core/operands.h"

namespace sinter::inline v0 {

using namespace tensor;

Tensor isclose(Arg a, Arg b, double rtol, double atol, bool equal_nan) {
  Call call("isclose", a.where());
  const DType dtype = common_type({&a, &b});
  const ir::Sources n = operands({&a, &b}, dtype);
  UOp close = ir::eq(n[0], n[1]);
  if (equal_nan && is_float(dtype)) close = close | (ir::ne(n[0], n[0]) & ir::ne(n[1], n[1]));
  const auto within = [&](UOp difference, UOp y) {
    return ir::le(difference, ir::alu(ir::Op::Abs, {y * rtol}) + atol);
  };
  if (is_float(dtype)) {
    UOp x = ir::to_compute_type(n[0]), y = ir::to_compute_type(n[1]), difference = ir::alu(ir::Op::Abs, {x - y});
    UOp finite = ir::lt(difference, ir::like(x, std::numeric_limits<double>::infinity()));
    return wrap(close | (finite & within(difference, y)));
  }
  const DType exact = dtype == DType::U64 ? DType::U64 : DType::I64;
  UOp x = ir::cast(n[0], exact), y = ir::cast(n[1], exact), difference = ir::maximum(x, y) - ir::minimum(x, y);
  UOp fits = ir::le(ir::like(difference, 0.0), difference);  // int64 may overflow
  return wrap(close | (fits & within(ir::cast(difference, DType::F64), ir::cast(y, DType::F64))));
}

bool allclose(Arg a, Arg b, double rtol, double atol, bool equal_nan) {
  const OuterCall call("allclose", a.where());
  return isclose(a, b, rtol, atol, equal_nan).all().item<bool>(a.where());
}

bool equal(Arg a, Arg b) {
  const OuterCall call("equal", a.where());
  const auto shape = [](const Arg& x) { return x.is_tensor() ? Tensor(x.cell()).shape() : Shape{}; };
  return shape(a) == shape(b) && (a == b).all().item<bool>(a.where());
}

}  // namespace sinter::inline v0
