// Functions of a number's sign, which zeros and NaN have too.
#include "sinter/ops.h"
#include "tensor/ops/in_floats.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// Whether the sign bit is set.
UOp has_sign(UOp x) {
  if (!is_float(x->dtype)) return lt(x, like(x, 0.0));
  UOp bits = bitcast(to_compute_type(detach(x)), x->dtype == DType::F64 ? DType::I64 : DType::I32);
  return lt(bits, like(bits, 0.0));
}

}  // namespace

Tensor signbit(Arg x) {
  Call call("signbit", x.where());
  UOp n = operand(x);
  return wrap(is_bool(n->dtype) ? ne(n, n) : has_sign(n));
}

Tensor copysign(Arg a, Arg b) {
  return in_floats("copysign", {&a, &b}, [](const Sources& n) {
    UOp size = alu(Op::Abs, {n[0]});
    // The slope in b is 0, which a select gives that never takes b.
    UOp negative = has_sign(n[1]), never = like(negative, 0.0);
    return where(never, n[1], where(negative, -size, size));
  });
}

Tensor fmod(Arg a, Arg b) {
  Call call("fmod", a.where());
  const DType dtype = common_type({&a, &b});
  if (is_bool(dtype)) usage_error("has no meaning on {} and {}; convert one with to(int64)", describe(a), describe(b));
  const Sources n = operands({&a, &b}, dtype);
  UOp x = n[0], y = n[1];
  if (is_float(dtype)) {
    // Of the sizes, where both definitions agree. Selects keep the slope 1 at x = 0.
    UOp negative = has_sign(x);
    UOp rest = alu(Op::FMod, {where(negative, -x, x), alu(Op::Abs, {y})});
    return wrap(where(negative, -rest, rest));
  }
  UOp rest = mod(x, y);
  if (is_unsigned(dtype)) return wrap(rest);
  UOp zero = like(x, 0.0);
  return wrap(where(ne(rest, zero) & ne(has_sign(x), has_sign(y)), rest - y, rest));
}

}  // namespace sinter::inline v0
