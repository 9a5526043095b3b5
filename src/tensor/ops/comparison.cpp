// Comparisons within a tolerance, and of whole tensors.
#include "sinter/ops.h"
#include "tensor/core/operands.h"

namespace sinter::inline v0 {

using namespace tensor;

Tensor isclose(Arg a, Arg b, double rtol, double atol, bool equal_nan) {
  Call call("isclose", a.where());
  const DType dtype = common_type({&a, &b});
  const Sources n = operands({&a, &b}, dtype);
  UOp close = eq(n[0], n[1]);
  if (equal_nan && is_float(dtype)) close = close | (ne(n[0], n[0]) & ne(n[1], n[1]));
  const auto within = [&](UOp difference, UOp y) { return le(difference, alu(Op::Abs, {y * rtol}) + atol); };
  if (is_float(dtype)) {
    UOp x = to_compute_type(n[0]), y = to_compute_type(n[1]), difference = alu(Op::Abs, {x - y});
    UOp finite = lt(difference, like(x, std::numeric_limits<double>::infinity()));
    return wrap(close | (finite & within(difference, y)));
  }
  const DType exact = dtype == DType::U64 ? DType::U64 : DType::I64;
  UOp x = cast(n[0], exact), y = cast(n[1], exact), difference = maximum(x, y) - minimum(x, y);
  UOp fits = le(like(difference, 0.0), difference);  // int64 may overflow
  return wrap(close | (fits & within(cast(difference, DType::F64), cast(y, DType::F64))));
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
