// The operators by name, with the factors and roundings that PyTorch's functions have.
#include "sinter/ops.h"
#include "tensor/core/operands.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

bool is_one(const Arg& a) { return !a.is_tensor() && a.real() == 1; }

/// UsageError if all operands are bool.
DType type_of_numbers(Args args) {
  const DType dtype = common_type(args);
  if (is_bool(dtype))
    usage_error("has no meaning on {} and {}; convert one with to(int64)", describe(**args.begin()),
                describe(**(args.begin() + 1)));
  return dtype;
}

/// f of the operands in the type in which ops on `dtype` compute.
template <class F>
Tensor rounded_once(Args args, DType dtype, F f) {
  Sources n = operands(args, dtype);
  for (UOp& x : n) x = to_compute_type(x);
  return wrap(cast(f(n), dtype));
}

/// The quotient rounded toward 0. Integers: the floor, plus 1 where that lies beyond.
UOp truncated_quotient(UOp x, UOp y) {
  if (is_float(x->dtype)) return alu(Op::Trunc, {x / y});
  UOp floor = idiv(x, y);
  if (is_unsigned(x->dtype)) return floor;
  UOp zero = like(x, 0.0), inexact = ne(mod(x, y), zero);
  return floor + cast(inexact & ne(lt(x, zero), lt(y, zero)), x->dtype);
}

}  // namespace

Tensor add(Arg a, Arg b, Arg alpha) {
  if (is_one(alpha)) {
    const CallScope scope("add", a);
    return a + b;
  }
  const Call call("add", a.where());
  return rounded_once({&a, &b, &alpha}, common_type({&a, &b}), [](const Sources& n) { return n[0] + n[2] * n[1]; });
}
Tensor sub(Arg a, Arg b, Arg alpha) {
  if (is_one(alpha)) {
    const CallScope scope("sub", a);
    return a - b;
  }
  const Call call("sub", a.where());
  return rounded_once({&a, &b, &alpha}, type_of_numbers({&a, &b}), [](const Sources& n) { return n[0] - n[2] * n[1]; });
}
Tensor mul(Arg a, Arg b) {
  const CallScope scope("mul", a);
  return a * b;
}
Tensor div(Arg a, Arg b, Choice<RoundingMode> rounding_mode) {
  const CallScope scope("div", a);
  if (rounding_mode == RoundingMode::None) return a / b;
  if (rounding_mode == RoundingMode::Floor) return floor_divide(a, b);
  const Call call("div", a.where());
  return rounded_once({&a, &b}, type_of_numbers({&a, &b}),
                      [](const Sources& n) { return truncated_quotient(n[0], n[1]); });
}
Tensor true_divide(Arg a, Arg b) {
  const CallScope scope("true_divide", a);
  return a / b;
}
Tensor positive(Arg x) {
  const Call call("positive", x.where());
  UOp n = operand(x);
  require_type(!is_bool(n->dtype), x, "numbers");
  return wrap(n);
}
Tensor negative(Arg x) {
  const CallScope scope("negative", x);
  return -x;
}

Tensor addcmul(Arg x, Arg a, Arg b, Arg value) {
  const Call call("addcmul", x.where());
  return rounded_once({&x, &a, &b, &value}, type_of_numbers({&x, &a, &b}),
                      [](const Sources& n) { return n[0] + n[3] * n[1] * n[2]; });
}
Tensor float_power(Arg a, Arg b) {
  const Call call("float_power", a.where());
  return wrap(alu(Op::Pow, operands({&a, &b}, DType::F64)));
}

#define SINTER_NAMED(name, op)       \
  Tensor name(Arg a, Arg b) {        \
    const CallScope scope(#name, a); \
    return a op b;                   \
  }
SINTER_NAMED(eq, ==)
SINTER_NAMED(ne, !=)
SINTER_NAMED(lt, <)
SINTER_NAMED(le, <=)
SINTER_NAMED(gt, >)
SINTER_NAMED(ge, >=)
SINTER_NAMED(bitwise_and, &)
SINTER_NAMED(bitwise_or, |)
SINTER_NAMED(bitwise_xor, ^)
SINTER_NAMED(bitwise_left_shift, <<)
SINTER_NAMED(bitwise_right_shift, >>)
#undef SINTER_NAMED
Tensor bitwise_not(Arg x) {
  const CallScope scope("bitwise_not", x);
  return ~x;
}

}  // namespace sinter::inline v0
