// Derivatives of elementwise ops. At kinks: |x| has derivative 0 at 0, max and min split the gradient between equal
// operands (SEMANTICS G7), floor, trunc and round have 0 everywhere.
#include <limits>
#include <numbers>

#include "gradient/adjoint.h"
#include "ir/build.h"
#include "ir/scalar_eval.h"
#include "ir/splat.h"

namespace sinter::autodiff {
namespace {

using namespace sinter::ir;

UOp zero_like(UOp x) { return like(x, 0.0); }

/// g * x, or x itself if g is a broadcast constant 1, such as the seed of a scalar.
UOp times(UOp g, UOp x) {
  UOp number = splat_const(g);
  return number && number->scalar().as_double() == 1.0 ? x : g * x;
}

/// The type that tensor cores take a factor of a product in, if it is repeated along an axis: the 16-bit floats that it
/// widens, or float32 if they may round it to tf32; else Void.
DType operand_type(UOp factor) {
  if (!is_expanded(factor)) return DType::Void;
  const UOp narrow = widened_source(below_movements(factor));
  return narrow ? narrow->dtype : tf32_source(factor) ? DType::F32 : DType::Void;
}

/// The gradient of a product, in its factors' type if tensor cores may compute its sum: the gradients of the factors
/// are then products of that type as well (decisions 0043 and 0054).
UOp rounded_to_factors(Adjoint& a) {
  const DType type = operand_type(a.src(0));
  if (type == DType::Void || operand_type(a.src(1)) != type) return a.g;
  if (!is_expanded(a.g)) return a.g;  // the gradient of a sum is repeated along its axes
  const UOp value = below_movements(a.g);
  return with_movements_of(a.g, type == DType::F32 ? tf32(value) : cast(cast(value, type), value->dtype));
}

/// max and min. `first` is true where only the first operand was selected, `second` likewise.
void extremum(Adjoint& a, UOp first, UOp second) {
  UOp half = where(eq(a.src(0), a.src(1)), a.g * 0.5, zero_like(a.g));
  if (a.wants(0)) a.give(0, where(first, a.g, half));
  if (a.wants(1)) a.give(1, where(second, a.g, half));
}

/// x^y. d/dx = y x^(y-1), but 0 where y = 0 and 1/x may overflow. d/dy = x^y log x, but 0 where x = 0 <= y. The
/// exceptions are applied to the operands, so that the derivative's own derivative has no infinity times 0.
void power(Adjoint& a) {
  UOp x = a.src(0), y = a.src(1), zero = zero_like(x), one = like(x, 1.0);
  if (a.wants(0)) {
    const double smallest = x->dtype == DType::F64   ? std::numeric_limits<double>::min()
                            : x->dtype == DType::F16 ? 0x1p-14
                                                     : std::numeric_limits<float>::min();
    UOp flat = le(alu(Op::Abs, {x}), like(x, smallest)) & eq(y, zero);
    a.give(0, a.g * (y * alu(Op::Pow, {x, where(flat, one, y) - one})));
  }
  if (a.wants(1)) {
    UOp flat = eq(x, zero) & le(zero, y);
    a.give(1, a.g * (a.n * log(where(flat, one, x))));
  }
}

/// The derivative of erf.
UOp bell(UOp x) { return exp(-(x * x)) * (2.0 * std::numbers::inv_sqrtpi); }

/// The condition of a select, computed from the select's own value where that decides it as well: relu, where(x <= 0,
/// 0, x), is at most 0 exactly where x is. Other consumers need the value anyway, and the operands need not be stored
/// for the gradient.
UOp condition_of(UOp select) {
  UOp condition = select->src[0];
  if (!is_alu(condition->op) || condition->src.size() != 2 || condition->src[0]->dtype != select->dtype)
    return condition;
  for (const size_t constant : {1, 2}) {
    UOp number = splat_const(select->src[constant]), other = select->src[3 - constant];
    if (!number) continue;
    std::vector<UOp> src = condition->src;
    std::vector<Scalar> there;  // the operands where the constant was selected
    for (UOp& s : src)
      if (s == other ||
          (s->op == Op::Detach && !s->src.empty() && s->src[0] == other))  // a stored DETACH has dropped its source
        s = select, there.push_back(number->scalar());
      else if (UOp bound = splat_const(s))
        there.push_back(bound->scalar());
    if (there.size() == 2 &&
        (evaluate(condition->op, DType::Bool, other->dtype, there).as_int() != 0) == (constant == 1))
      return alu(condition->op, src);
  }
  return condition;
}

constexpr GradientRule kZeroRule = [](Adjoint&) {};
constexpr double kLn2 = std::numbers::ln2;

constexpr GradientRuleEntry kElementwise[] = {
    {Op::Neg, [](Adjoint& a) { a.give(0, -a.g); }},
    {Op::Abs,
     [](Adjoint& a) {
       UOp x = a.src(0), zero = zero_like(x);
       a.give(0, where(lt(zero, x), a.g, where(lt(x, zero), -a.g, zero_like(a.g))));
     }},
    {Op::Sqrt, [](Adjoint& a) { a.give(0, a.g * 0.5 / a.n); }},
    {Op::Floor, kZeroRule},
    {Op::Trunc, kZeroRule},
    {Op::Round, kZeroRule},
    {Op::Exp, [](Adjoint& a) { a.give(0, a.g * a.n); }},
    {Op::Exp2, [](Adjoint& a) { a.give(0, a.g * (a.n * kLn2)); }},
    {Op::Log, [](Adjoint& a) { a.give(0, a.g / a.src(0)); }},
    {Op::Log1p, [](Adjoint& a) { a.give(0, a.g / (a.src(0) + 1.0)); }},
    {Op::Expm1, [](Adjoint& a) { a.give(0, a.g * (a.n + 1.0)); }},
    {Op::Log2, [](Adjoint& a) { a.give(0, a.g / (a.src(0) * kLn2)); }},
    {Op::Log10, [](Adjoint& a) { a.give(0, a.g / (a.src(0) * std::numbers::ln10)); }},
    {Op::Sin, [](Adjoint& a) { a.give(0, a.g * alu(Op::Cos, {a.src(0)})); }},
    {Op::Cos, [](Adjoint& a) { a.give(0, -(a.g * alu(Op::Sin, {a.src(0)}))); }},
    {Op::Tan, [](Adjoint& a) { a.give(0, a.g * (a.n * a.n + 1.0)); }},
    {Op::Tanh, [](Adjoint& a) { a.give(0, a.g * (1.0 - a.n * a.n)); }},
    {Op::Sinh, [](Adjoint& a) { a.give(0, a.g * alu(Op::Cosh, {a.src(0)})); }},
    {Op::Cosh, [](Adjoint& a) { a.give(0, a.g * alu(Op::Sinh, {a.src(0)})); }},
    {Op::Asinh, [](Adjoint& a) { a.give(0, a.g / sqrt(fma(a.src(0), a.src(0), like(a.src(0), 1.0)))); }},
    {Op::Acosh, [](Adjoint& a) { a.give(0, a.g / sqrt(fma(a.src(0), a.src(0), like(a.src(0), -1.0)))); }},
    {Op::Atanh, [](Adjoint& a) { a.give(0, a.g / fma(-a.src(0), a.src(0), like(a.src(0), 1.0))); }},
    {Op::Erf, [](Adjoint& a) { a.give(0, a.g * bell(a.src(0))); }},
    {Op::Erfc, [](Adjoint& a) { a.give(0, -(a.g * bell(a.src(0)))); }},
    {Op::Erfinv, [](Adjoint& a) { a.give(0, a.g * (exp(a.n * a.n) * (0.5 / std::numbers::inv_sqrtpi))); }},
    {Op::Cast, [](Adjoint& a) { a.give(0, cast(a.g, a.src(0)->dtype)); }},
    {Op::Add, [](Adjoint& a) { a.give(0, a.g), a.give(1, a.g); }},
    {Op::Sub,
     [](Adjoint& a) {
       a.give(0, a.g);
       if (a.wants(1)) a.give(1, -a.g);
     }},
    {Op::Mul,
     [](Adjoint& a) {
       const UOp g = rounded_to_factors(a);
       if (a.wants(0)) a.give(0, times(g, a.src(1)));
       if (a.wants(1)) a.give(1, times(g, a.src(0)));
     }},
    {Op::Div,
     [](Adjoint& a) {
       if (a.wants(0)) a.give(0, a.g / a.src(1));
       if (a.wants(1)) a.give(1, -(a.g * a.n / a.src(1)));
     }},
    {Op::FMod,
     [](Adjoint& a) {  // x - y*k, k piecewise constant: floor(x/y), or one more where the quotient rounds up
       a.give(0, a.g);
       if (a.wants(1)) a.give(1, -(a.g * alu(Op::Round, {(a.src(0) - a.n) / a.src(1)})));
     }},
    {Op::Pow, power},
    {Op::Atan2,
     [](Adjoint& a) {
       UOp y = a.src(0), x = a.src(1), square = x * x + y * y;
       if (a.wants(0)) a.give(0, a.g * (x / square));
       if (a.wants(1)) a.give(1, -(a.g * (y / square)));
     }},
    {Op::Max, [](Adjoint& a) { extremum(a, lt(a.src(1), a.src(0)), lt(a.src(0), a.src(1))); }},
    {Op::Min, [](Adjoint& a) { extremum(a, lt(a.src(0), a.src(1)), lt(a.src(1), a.src(0))); }},
    {Op::Where,
     [](Adjoint& a) {
       UOp condition = condition_of(a.n);
       if (a.wants(1)) a.give(1, where(condition, a.g, zero_like(a.g)));
       if (a.wants(2)) a.give(2, where(condition, zero_like(a.g), a.g));
     }},
    {Op::Fma,
     [](Adjoint& a) {
       if (a.wants(0)) a.give(0, a.g * a.src(1));
       if (a.wants(1)) a.give(1, a.g * a.src(0));
       a.give(2, a.g);
     }},
};

}  // namespace

std::span<const GradientRuleEntry> elementwise_rules() { return kElementwise; }

}  // namespace sinter::autodiff
