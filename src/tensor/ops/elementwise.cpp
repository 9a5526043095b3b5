// Operators and elementwise functions that are one op of the graph, or a few.
#include <cmath>
#include <limits>

#include "sinter/ops.h"
#include "tensor/core/operands.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// One op on floats; integers are computed in float32.
Tensor float_op(std::string_view name, Op op, const Arg& x) {
  Call call(name, x.where());
  return wrap(alu(op, {float_operand(x)}));
}
/// One op on floats that leaves integers and bools unchanged.
Tensor rounding(std::string_view name, Op op, const Arg& x) {
  Call call(name, x.where());
  UOp n = operand(x);
  return wrap(is_float(n->dtype) ? alu(op, {n}) : n);
}
/// One op on operands of dtype `dtype`, broadcast to a common shape.
Tensor binary(Op op, const Arg& a, const Arg& b, DType dtype) { return wrap(alu(op, operands({&a, &b}, dtype))); }

Tensor same_type(std::string_view name, Op op, const Arg& a, const Arg& b) {
  Call call(name, a.where());
  return binary(op, a, b, common_type({&a, &b}));
}

/// One op on numbers. UsageError if both operands are bool.
Tensor numeric(std::string_view name, Op op, Op on_floats, const Arg& a, const Arg& b, std::string_view instead) {
  Call call(name, a.where());
  DType t = common_type({&a, &b});
  if (is_bool(t)) usage_error("has no meaning on {} and {}; {}", describe(a), describe(b), instead);
  return binary(is_float(t) ? on_floats : op, a, b, t);
}
/// One op on integers, and on bools if `bools`.
Tensor bitwise(std::string_view name, Op op, const Arg& a, const Arg& b, bool bools) {
  Call call(name, a.where());
  DType t = common_type({&a, &b});
  if (is_float(t) || (is_bool(t) && !bools))
    usage_error("works on integers{}, got {} and {}; convert with to(int64)", bools ? " and bool" : "", describe(a),
                describe(b));
  return binary(op, a, b, t);
}
constexpr std::string_view kToInteger = "convert one with to(int64)";

UOp truth(const Arg& x) { return cast(operand(x), DType::Bool); }
Tensor logical(std::string_view name, Op op, const Arg& a, const Arg& b) {
  Call call(name, a.where());
  UOp nodes[] = {truth(a), truth(b)};
  tensor::broadcast(nodes);
  return wrap(alu(op, {nodes[0], nodes[1]}));
}

/// The largest finite number of a float type.
double largest(DType dtype) {
  switch (dtype) {
    case DType::F16: return 65504;
    case DType::BF16: return 0x1.fep127;
    case DType::F32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

/// Where x is beyond a bound: above it, or below. Numbers are no NaN, so that only a tensor is asked.
UOp beyond(UOp x, UOp bound, const Arg& given, bool above) {
  UOp out = above ? lt(bound, x) : lt(x, bound);
  const bool may_be_nan = is_float(x->dtype) && (given.is_tensor() || std::isnan(given.real()));
  return may_be_nan ? out | ne(bound, bound) : out;
}
Tensor one_bound(std::string_view name, const Arg& x, const Arg& bound, bool above) {
  Call call(name, x.where());
  Sources n = operands({&x, &bound}, common_type({&x, &bound}));
  return wrap(where(beyond(n[0], n[1], bound, above), n[1], n[0]));
}

/// x^n by squaring, of integer tensors. Exact, wraps. A negative power is 0 except of 1 and -1, where it is the
/// positive one.
UOp integer_power(UOp x, UOp n) {
  UOp zero = like(x, 0.0), one = like(x, 1.0), result = one, power = x;
  for (size_t bit = 0; bit < 8 * size_of(x->dtype); ++bit) {
    UOp mask = like(n, Scalar::of(n->dtype, static_cast<int64_t>(uint64_t{1} << bit)));
    result = where(ne(n & mask, zero), result * power, result);
    power = power * power;
  }
  if (is_unsigned(x->dtype)) return result;
  UOp unit = eq(x, one) | eq(x, -one);
  return where(lt(n, zero) & ~unit, zero, result);
}

/// x^n by squaring. Exact on integers, which wrap.
UOp integer_power(UOp x, int64_t n) {
  UOp result = like(x, Scalar::of(x->dtype, 1));
  for (bool first = true; n; n >>= 1, x = n ? x * x : x) {
    if (!(n & 1)) continue;
    result = first ? x : result * x;
    first = false;
  }
  return result;
}

}  // namespace

// -- operators

Tensor operator+(Arg a, Arg b) { return same_type("operator+", Op::Add, a, b); }
Tensor operator*(Arg a, Arg b) { return same_type("operator*", Op::Mul, a, b); }
Tensor operator-(Arg a, Arg b) {
  return numeric("operator-", Op::Sub, Op::Sub, a, b, "use ^ for \"differs\", or convert one with to(int64)");
}
Tensor operator/(Arg a, Arg b) {
  Call call("operator/", a.where());
  return binary(Op::Div, a, b, common_float_type({&a, &b}));
}
Tensor operator%(Arg a, Arg b) { return numeric("operator%", Op::Mod, Op::FMod, a, b, kToInteger); }
Tensor operator-(Arg a) {
  Call call("operator-", a.where());
  UOp n = operand(a);
  require_type(!is_bool(n->dtype), a, "numbers (for bool use ~)");
  return wrap(-n);
}
Tensor operator==(Arg a, Arg b) { return same_type("operator==", Op::Eq, a, b); }
Tensor operator!=(Arg a, Arg b) { return same_type("operator!=", Op::Ne, a, b); }
Tensor operator<(Arg a, Arg b) { return same_type("operator<", Op::Lt, a, b); }
Tensor operator<=(Arg a, Arg b) { return same_type("operator<=", Op::Le, a, b); }
Tensor operator>(Arg a, Arg b) {
  Call call("operator>", a.where());
  return binary(Op::Lt, b, a, common_type({&a, &b}));
}
Tensor operator>=(Arg a, Arg b) {
  Call call("operator>=", a.where());
  return binary(Op::Le, b, a, common_type({&a, &b}));
}
Tensor operator&(Arg a, Arg b) { return bitwise("operator&", Op::And, a, b, true); }
Tensor operator|(Arg a, Arg b) { return bitwise("operator|", Op::Or, a, b, true); }
Tensor operator^(Arg a, Arg b) { return bitwise("operator^", Op::Xor, a, b, true); }
Tensor operator<<(Arg a, Arg b) { return bitwise("operator<<", Op::Shl, a, b, false); }
Tensor operator>>(Arg a, Arg b) { return bitwise("operator>>", Op::Shr, a, b, false); }
Tensor operator~(Arg a) {
  Call call("operator~", a.where());
  UOp n = operand(a);
  require_type(!is_float(n->dtype), a, "integers or bool");
  return wrap(~n);
}

// -- functions of one float

Tensor exp(Arg x) { return float_op("exp", Op::Exp, x); }
Tensor expm1(Arg x) { return float_op("expm1", Op::Expm1, x); }
Tensor log1p(Arg x) { return float_op("log1p", Op::Log1p, x); }
Tensor exp2(Arg x) { return float_op("exp2", Op::Exp2, x); }
Tensor log(Arg x) { return float_op("log", Op::Log, x); }
Tensor log2(Arg x) { return float_op("log2", Op::Log2, x); }
Tensor log10(Arg x) { return float_op("log10", Op::Log10, x); }
Tensor sqrt(Arg x) { return float_op("sqrt", Op::Sqrt, x); }
Tensor sin(Arg x) { return float_op("sin", Op::Sin, x); }
Tensor cos(Arg x) { return float_op("cos", Op::Cos, x); }
Tensor tan(Arg x) { return float_op("tan", Op::Tan, x); }
Tensor sinh(Arg x) { return float_op("sinh", Op::Sinh, x); }
Tensor cosh(Arg x) { return float_op("cosh", Op::Cosh, x); }
Tensor tanh(Arg x) { return float_op("tanh", Op::Tanh, x); }
Tensor asinh(Arg x) { return float_op("asinh", Op::Asinh, x); }
Tensor acosh(Arg x) { return float_op("acosh", Op::Acosh, x); }
Tensor atanh(Arg x) { return float_op("atanh", Op::Atanh, x); }
Tensor erf(Arg x) { return float_op("erf", Op::Erf, x); }
Tensor erfc(Arg x) { return float_op("erfc", Op::Erfc, x); }
Tensor erfinv(Arg x) { return float_op("erfinv", Op::Erfinv, x); }
Tensor rsqrt(Arg x) {
  Call call("rsqrt", x.where());
  UOp n = float_operand(x);
  return wrap(cast(1.0 / sqrt(to_compute_type(n)), n->dtype));
}
Tensor reciprocal(Arg x) {
  Call call("reciprocal", x.where());
  return wrap(1.0 / float_operand(x));
}

// -- functions that keep the type

Tensor abs(Arg x) {
  Call call("abs", x.where());
  UOp n = operand(x);
  return wrap(is_bool(n->dtype) ? n : alu(Op::Abs, {n}));
}
Tensor square(Arg x) {
  Call call("square", x.where());
  UOp n = operand(x);
  return wrap(n * n);
}
Tensor sign(Arg x) {
  Call call("sign", x.where());
  UOp n = operand(x);
  if (is_bool(n->dtype)) return wrap(n);
  UOp zero = like(n, 0.0);
  // The rest is a zero of either sign, or NaN. x*0 + 0 makes 0 of the zeros and keeps NaN. Unlike a constant, it passes
  // a gradient (of 0).
  UOp rest = is_float(n->dtype) ? n * 0.0 + 0.0 : zero;
  return wrap(where(lt(zero, n), like(n, 1.0), is_unsigned(n->dtype) ? rest : where(lt(n, zero), like(n, -1.0), rest)));
}
Tensor floor(Arg x) { return rounding("floor", Op::Floor, x); }
Tensor round(Arg x) { return rounding("round", Op::Round, x); }
Tensor trunc(Arg x) { return rounding("trunc", Op::Trunc, x); }
Tensor ceil(Arg x) {
  Call call("ceil", x.where());
  UOp n = operand(x);
  return wrap(is_float(n->dtype) ? -alu(Op::Floor, {-n}) : n);
}
Tensor frac(Arg x) {
  Call call("frac", x.where());
  UOp n = operand(x);
  require_type(is_float(n->dtype), x, "floats");
  return wrap(n - alu(Op::Trunc, {n}));
}
Tensor nan_to_num(Arg x, double nan, std::optional<double> posinf, std::optional<double> neginf) {
  Call call("nan_to_num", x.where());
  UOp n = operand(x);
  if (!is_float(n->dtype)) return wrap(n);
  const double most = largest(n->dtype);
  auto replace = [&](UOp condition, double by) { n = where(condition, like(n, by), n); };
  UOp given = n, infinity = like(n, std::numeric_limits<double>::infinity());
  replace(ne(given, given), nan);
  replace(eq(given, infinity), posinf.value_or(most));
  replace(eq(given, -infinity), neginf.value_or(-most));
  return wrap(n);
}

// -- functions of several

Tensor maximum(Arg a, Arg b) { return same_type("maximum", Op::Max, a, b); }
Tensor minimum(Arg a, Arg b) { return same_type("minimum", Op::Min, a, b); }
Tensor remainder(Arg a, Arg b) { return numeric("remainder", Op::Mod, Op::FMod, a, b, kToInteger); }

Tensor floor_divide(Arg a, Arg b) {
  Call call("floor_divide", a.where());
  DType t = common_type({&a, &b});
  if (!is_float(t)) return numeric("floor_divide", Op::IDiv, Op::IDiv, a, b, kToInteger);
  std::vector<UOp> n = operands({&a, &b}, t);
  UOp x = to_compute_type(detach(n[0])), y = to_compute_type(detach(n[1])), zero = like(x, 0.0);
  // On magnitudes: first subtract the exact remainder, so that the quotient is a whole number except for rounding.
  UOp size = alu(Op::Abs, {x}), by = alu(Op::Abs, {y}), rest = alu(Op::FMod, {size, by});
  UOp whole = alu(Op::Round, {(size - rest) / by});
  UOp below = -whole - cast(ne(rest, zero), x->dtype);
  UOp opposite = ne(lt(x, zero), lt(y, zero));
  UOp quotient = where(eq(x, zero) | eq(y, zero), x / y, where(opposite, below, whole));
  return wrap(cast(quotient, t));
}

Tensor pow(Arg a, Arg b) {
  Call call("pow", a.where());
  DType t = common_type({&a, &b});
  if (is_float(t)) {
    // These two powers are bitwise equal to products.
    if (!b.is_tensor() && (b.real() == 1 || b.real() == 2))
      return wrap(integer_power(operand(a, t), b.real() == 1 ? 1 : 2));
    return binary(Op::Pow, a, b, t);
  }
  if (is_bool(t) || (b.kind() == Arg::Kind::Integer && b.integer() < 0))
    usage_error("{} to the power of {}: integers are raised only to integers >= 0; convert the base with to({})",
                describe(a), describe(b), is_bool(t) ? "int64" : "float32");
  if (b.kind() == Arg::Kind::Integer) return wrap(integer_power(operand(a, t), b.integer()));
  const Sources n = operands({&a, &b}, t);
  return wrap(integer_power(n[0], n[1]));
}

Tensor clamp(Arg x, Arg lo, Arg hi) {
  Call call("clamp", x.where());
  std::vector<UOp> n = operands({&x, &lo, &hi}, common_type({&x, &lo, &hi}));
  UOp above = where(beyond(n[0], n[1], lo, false), n[1], n[0]);
  return wrap(where(beyond(above, n[2], hi, true), n[2], above));
}
Tensor clamp(Arg x, Arg lo) { return one_bound("clamp", x, lo, false); }
Tensor clamp(Arg x, Arg lo, std::nullopt_t) { return one_bound("clamp", x, lo, false); }
Tensor clamp(Arg x, std::nullopt_t, Arg hi) { return one_bound("clamp", x, hi, true); }
Tensor clamp_min(Arg x, Arg lo) { return one_bound("clamp_min", x, lo, false); }
Tensor clamp_max(Arg x, Arg hi) { return one_bound("clamp_max", x, hi, true); }

Tensor masked_fill(Arg x, Arg mask, Arg value) {
  Call call("masked_fill", x.where());
  UOp given = operand(x), m = operand(mask);
  require_type(is_bool(m->dtype), mask, "a bool mask");
  UOp n[] = {m, operand(value, given->dtype), given};
  if (n[1]->rank() > 0)
    usage_error("fills {} with one number, got {}; where(mask, value, x) takes values of a shape", describe(x),
                describe(value));
  tensor::broadcast(n);
  return wrap(where(n[0], n[1], n[2]));
}
Tensor heaviside(Arg x, Arg values) {
  Call call("heaviside", x.where());
  Sources n = operands({&x, &values}, common_type({&x, &values}));
  UOp zero = like(n[0], 0.0);
  return wrap(where(eq(n[0], zero), n[1], cast(lt(zero, n[0]), n[0]->dtype)));
}

Tensor where(Arg condition, Arg a, Arg b) {
  Call call("where", condition.where());
  UOp c = operand(condition);
  require_type(is_bool(c->dtype), condition, "a bool condition");
  DType t = common_type({&a, &b});
  UOp n[] = {c, operand(a, t), operand(b, t)};
  tensor::broadcast(n);
  return wrap(where(n[0], n[1], n[2]));
}

// -- logic

Tensor logical_and(Arg a, Arg b) { return logical("logical_and", Op::And, a, b); }
Tensor logical_or(Arg a, Arg b) { return logical("logical_or", Op::Or, a, b); }
Tensor logical_xor(Arg a, Arg b) { return logical("logical_xor", Op::Xor, a, b); }
Tensor logical_not(Arg x) {
  Call call("logical_not", x.where());
  return wrap(~truth(x));
}
Tensor isnan(Arg x) {
  Call call("isnan", x.where());
  UOp n = operand(x);
  return wrap(ne(n, n));
}
Tensor isinf(Arg x) {
  Call call("isinf", x.where());
  UOp n = float_operand(x);
  return wrap(eq(alu(Op::Abs, {n}), like(n, std::numeric_limits<double>::infinity())));
}
Tensor isfinite(Arg x) {
  Call call("isfinite", x.where());
  UOp n = float_operand(x);
  return wrap(lt(alu(Op::Abs, {n}), like(n, std::numeric_limits<double>::infinity())));
}

}  // namespace sinter::inline v0
