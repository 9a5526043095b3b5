// Activations of elements, written so that neither values nor gradients overflow in intermediate results, and so that a
// gradient at a kink is that of the branch which PyTorch takes there.
#include "tensor/ops/activation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sinter/ops.h"
#include "tensor/core/operands.h"
#include "tensor/ops/parameter.h"

namespace sinter {

namespace tensor {
namespace {

UOp not_negative(UOp x) { return le(like(x, 0.0), x); }
/// -|x|. Not Abs: at 0 this has the slope of the branch that the callers take there, so their gradient at 0 is right
/// too.
UOp minus_abs(UOp x) { return where(not_negative(x), -x, x); }

}  // namespace

UOp sigmoid(UOp x) {
  UOp e = exp(minus_abs(x));
  return where(not_negative(x), like(x, 1.0), e) / (e + 1.0);
}

UOp softplus_rest(UOp x) { return alu(Op::Log1p, {exp(minus_abs(x))}); }

UOp softplus(UOp x) { return where(not_negative(x), x, like(x, 0.0)) + softplus_rest(x); }

UOp log_sigmoid(UOp x) { return where(not_negative(x), like(x, 0.0), x) - softplus_rest(x); }

}  // namespace tensor

inline namespace v0 {
namespace {

using namespace tensor;

/// f of x in its compute type.
template <class F>
Tensor float_function(std::string_view name, const Arg& x, F f) {
  Call call(name, x.where());
  UOp n = float_operand(x);
  return wrap(cast(f(to_compute_type(n)), n->dtype));
}

/// x in [lo, hi], where the bounds have no slope.
UOp held_between(UOp x, UOp lo, UOp hi) { return where(le(x, lo), lo, where(le(hi, x), hi, x)); }
UOp held_between(UOp x, double lo, double hi) { return held_between(x, like(x, lo), like(x, hi)); }

/// x, or `below` where x <= 0.
UOp positive_or(UOp x, UOp below) { return where(le(x, like(x, 0.0)), below, x); }

/// alpha (e^(x / width) - 1) below 0, x above, both times `scale`.
UOp exponential_below(UOp x, double alpha, double width, double scale) {
  UOp zero = like(x, 0.0), negative = where(le(x, zero), x, zero);  // e^x must not overflow
  UOp curve = alu(Op::Expm1, {width == 1 ? negative : negative / width});
  UOp out = positive_or(x, alpha == 1 ? curve : curve * alpha);
  return scale == 1 ? out : out * scale;
}

/// The operand of a function that keeps integers.
UOp number_operand(const Arg& x) {
  UOp n = operand(x);
  require_type(!is_bool(n->dtype), x, "numbers");
  return n;
}
/// A bound in the type of x. UsageError if an integer type does not hold it.
UOp bound_like(UOp x, double bound) { return like(x, number_of(Arg(bound), x->dtype)); }

}  // namespace

Tensor sigmoid(Arg x) {
  return float_function("sigmoid", x, [](UOp n) { return tensor::sigmoid(n); });
}
Tensor silu(Arg x) {
  return float_function("silu", x, [](UOp n) { return n * tensor::sigmoid(n); });
}
Tensor gelu(Arg x, Choice<Gelu> form) {
  return float_function("gelu", x, [form](UOp n) {
    UOp inner = form == Gelu::Exact ? alu(Op::Erf, {n * std::sqrt(0.5)})
                                    : alu(Op::Tanh, {(n + n * n * n * 0.044715) * std::sqrt(2 / std::numbers::pi)});
    return n * 0.5 * (inner + 1.0);
  });
}

// -- of the family of relu

Tensor relu(Arg x) {
  Call call("relu", x.where());
  UOp n = number_operand(x);
  return wrap(positive_or(n, like(n, 0.0)));
}

Tensor leaky_relu(Arg x, double slope) {
  return float_function("leaky_relu", x, [slope](UOp n) { return positive_or(n, n * slope); });
}

Tensor prelu(Arg x, const Tensor& weight) {
  Call call("prelu", x.where());
  UOp given = float_operand(x), n = to_compute_type(given), w = node_of(weight);
  if (w->shape.numel() == 1) {
    w = cast(on_device(w, n->device, n->shape), n->dtype);
    w = broadcast_to(reshape(w, {}), n->shape);
  } else {
    if (n->rank() < 2)
      usage_error("the weight {} needs channels, the second axis of x, but x is {}; give one number", describe(w),
                  describe(given));
    w = broadcast_param(weight, "weight", n, Shape{n->shape[1]}, 1);
  }
  return wrap(cast(positive_or(n, n * w), given->dtype));
}

Tensor rrelu(Arg x, double lower, double upper, bool training, Generator* generator) {
  Call call("rrelu", x.where());
  if (!(lower <= upper)) usage_error("no slope lies between {} and {}; give lower <= upper", lower, upper);
  UOp given = float_operand(x), n = to_compute_type(given);
  if (!training) return wrap(cast(positive_or(n, n * ((lower + upper) / 2)), given->dtype));
  UOp noise = node_of(rand(n->shape, {n->dtype, generator, n->device}, x.where()));
  return wrap(cast(positive_or(n, n * (noise * (upper - lower) + lower)), given->dtype));
}

Tensor elu(Arg x, double alpha) {
  return float_function("elu", x, [alpha](UOp n) { return exponential_below(n, alpha, 1, 1); });
}

Tensor selu(Arg x) {
  return float_function("selu", x, [](UOp n) {
    return exponential_below(n, 1.6732632423543772848170429916717, 1, 1.0507009873554804934193349852946);
  });
}

Tensor celu(Arg x, double alpha) {
  return float_function("celu", x, [alpha](UOp n) {
    if (alpha == 0) usage_error("alpha is {}, by which {} is divided; give another", alpha, "x");
    return exponential_below(n, alpha, alpha, 1);
  });
}

Tensor relu6(Arg x) {
  Call call("relu6", x.where());
  UOp n = number_operand(x);
  return wrap(held_between(n, bound_like(n, 0), bound_like(n, 6)));
}

Tensor hardtanh(Arg x, double lo, double hi) {
  Call call("hardtanh", x.where());
  if (!(lo <= hi)) usage_error("nothing lies between {} and {}; give lo <= hi", lo, hi);
  UOp n = number_operand(x);
  if (is_unsigned(n->dtype)) lo = std::max(lo, 0.0);
  return wrap(held_between(n, bound_like(n, lo), bound_like(n, hi)));
}

Tensor threshold(Arg x, double bound, double value) {
  Call call("threshold", x.where());
  UOp n = number_operand(x);
  return wrap(where(le(n, bound_like(n, bound)), bound_like(n, value), n));
}

// -- smooth, and pieces of lines

Tensor softplus(Arg x, double beta, double threshold) {
  return float_function("softplus", x, [=](UOp n) {
    if (beta == 0) usage_error("beta is {}, by which {} is divided; give another", beta, "x");
    UOp scaled = n * beta;
    return where(lt(like(n, threshold), scaled), n, tensor::softplus(scaled) / beta);
  });
}
Tensor softsign(Arg x) {
  return float_function("softsign", x, [](UOp n) { return n / (alu(Op::Abs, {n}) + 1.0); });
}
Tensor mish(Arg x) {
  return float_function("mish", x, [](UOp n) { return n * alu(Op::Tanh, {tensor::softplus(n)}); });
}
Tensor logsigmoid(Arg x) {
  return float_function("logsigmoid", x, [](UOp n) { return log_sigmoid(n); });
}
Tensor tanhshrink(Arg x) {
  return float_function("tanhshrink", x, [](UOp n) { return n - alu(Op::Tanh, {n}); });
}
Tensor hardsigmoid(Arg x) {
  return float_function("hardsigmoid", x, [](UOp n) { return held_between(n + 3.0, 0, 6) / 6.0; });
}
Tensor hardswish(Arg x) {
  return float_function("hardswish", x, [](UOp n) { return n * held_between(n + 3.0, 0, 6) / 6.0; });
}

Tensor hardshrink(Arg x, double lambda) {
  return float_function("hardshrink", x, [lambda](UOp n) {
    return where(le(like(n, -lambda), n) & le(n, like(n, lambda)), like(n, 0.0), n);
  });
}

Tensor softshrink(Arg x, double lambda) {
  return float_function("softshrink", x, [lambda](UOp n) {
    if (!(lambda >= 0)) usage_error("lambda is {}, which is not at least {}; give its magnitude", lambda, 0);
    UOp rest = n * 0.0;  // NaN of NaN
    return where(lt(like(n, lambda), n), n - lambda, where(lt(n, like(n, -lambda)), n + lambda, rest));
  });
}

}  // namespace v0
}  // namespace sinter
