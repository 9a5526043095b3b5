// Functions of floats that are several ops, written so that neither values nor gradients overflow or cancel on the way.
#include <limits>
#include <numbers>

#include "sinter/ops.h"
#include "tensor/ops/in_floats.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;
using ir::Op;
using ir::Sources;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// sqrt(1 - x^2), rounded twice. Its slope is infinite at +-1, which makes those of asin and acos so too.
UOp other_leg(UOp x) { return ir::sqrt(ir::fma(-x, x, ir::like(x, 1.0))); }
UOp absolute_value(UOp x) { return ir::alu(Op::Abs, {x}); }
UOp is_infinite(UOp x) { return ir::eq(absolute_value(x), ir::like(x, kInfinity)); }

/// The larger of two and what the smaller is above it: log(e^a + e^b) = larger + log(1 + e^difference). One expression
/// in both, so that derivatives of every order are right where they are equal.
struct OrderedPair {
  UOp larger, difference;
};
OrderedPair ordered(UOp a, UOp b) {
  UOp above = ir::lt(b, a), larger = ir::where(above, a, b), smaller = ir::where(above, b, a);
  UOp both_infinite = ir::eq(a, b) & is_infinite(a);
  return {larger, ir::where(both_infinite, ir::like(a, 0.0), smaller - larger)};
}

}  // namespace

Tensor asin(Arg x) {
  return in_floats("asin", {&x}, [](const Sources& n) { return ir::alu(Op::Atan2, {n[0], other_leg(n[0])}); });
}
Tensor acos(Arg x) {
  return in_floats("acos", {&x}, [](const Sources& n) { return ir::alu(Op::Atan2, {other_leg(n[0]), n[0]}); });
}
Tensor atan(Arg x) {
  return in_floats("atan", {&x}, [](const Sources& n) { return ir::alu(Op::Atan2, {n[0], ir::like(n[0], 1.0)}); });
}
Tensor atan2(Arg y, Arg x) {
  return in_floats("atan2", {&y, &x}, [](const Sources& n) { return ir::alu(Op::Atan2, {n[0], n[1]}); });
}

Tensor sinc(Arg x) {
  return in_floats("sinc", {&x}, [](const Sources& n) {
    UOp zero = ir::eq(n[0], ir::like(n[0], 0.0)), one = ir::like(n[0], 1.0);
    UOp angle = ir::where(zero, one, n[0]) * std::numbers::pi;
    return ir::where(zero, one, ir::alu(Op::Sin, {angle}) / angle);
  });
}
Tensor deg2rad(Arg x) {
  return in_floats("deg2rad", {&x}, [](const Sources& n) { return n[0] * (std::numbers::pi / 180); });
}
Tensor rad2deg(Arg x) {
  return in_floats("rad2deg", {&x}, [](const Sources& n) { return n[0] * (180 / std::numbers::pi); });
}

Tensor logit(Arg x, std::optional<double> eps) {
  return in_floats("logit", {&x}, [&](const Sources& n) {
    UOp p = n[0];
    if (eps) {
      UOp lo = ir::like(p, *eps), hi = ir::like(p, 1 - *eps);
      p = ir::where(ir::lt(p, lo), lo, ir::where(ir::lt(hi, p), hi, p));
    }
    // Near 1/2 the logarithms would cancel: log(p / (1 - p)) = 2 atanh(2 p - 1), where 2 p - 1 is exact.
    UOp centered = ir::fma(p, ir::like(p, 2.0), ir::like(p, -1.0));
    UOp near = ir::lt(absolute_value(centered), ir::like(p, 0.5));
    UOp odds = ir::alu(Op::Atanh, {ir::where(near, centered, ir::like(p, 0.0))}) * 2.0;
    return ir::where(near, odds, ir::log(p) - ir::alu(Op::Log1p, {-p}));
  });
}

Tensor hypot(Arg a, Arg b) {
  return in_floats("hypot", {&a, &b}, [](const Sources& n) {
    // Scaled by a power of two where squares would overflow or lose bits; it has no history, so gradients see sqrt
    // alone.
    UOp x = n[0], y = n[1], size = ir::maximum(absolute_value(ir::detach(x)), absolute_value(ir::detach(y)));
    const bool wide = x->dtype == DType::F64;
    const double huge = wide ? 0x1p500 : 0x1p60, down = wide ? 0x1p-600 : 0x1p-80;
    const double tiny = wide ? 0x1p-500 : 0x1p-50, up = wide ? 0x1p600 : 0x1p90;
    UOp is_huge = ir::lt(ir::like(size, huge), size), is_tiny = ir::lt(size, ir::like(size, tiny));
    auto by = [&](double if_huge, double if_tiny) {
      return ir::where(is_huge, ir::like(size, if_huge),
                       ir::where(is_tiny, ir::like(size, if_tiny), ir::like(size, 1)));
    };
    UOp scale = by(down, up);
    x = x * scale, y = y * scale;
    UOp length = ir::sqrt(ir::fma(x, x, y * y)) * by(1 / down, 1 / up);
    return ir::where(is_infinite(x) | is_infinite(y), ir::like(x, kInfinity), length);  // also with a NaN
  });
}

Tensor logaddexp(Arg a, Arg b) {
  return in_floats("logaddexp", {&a, &b}, [](const Sources& n) {
    const OrderedPair pair = ordered(n[0], n[1]);
    return pair.larger + ir::alu(Op::Log1p, {ir::exp(pair.difference)});
  });
}
Tensor logaddexp2(Arg a, Arg b) {
  return in_floats("logaddexp2", {&a, &b}, [](const Sources& n) {
    const OrderedPair pair = ordered(n[0], n[1]);
    return pair.larger + ir::alu(Op::Log1p, {ir::alu(Op::Exp2, {pair.difference})}) * std::numbers::log2e;
  });
}

Tensor xlogy(Arg x, Arg y) {
  return in_floats("xlogy", {&x, &y}, [](const Sources& n) {
    UOp zero = ir::like(n[0], 0.0);
    // Where log(y) is not finite and x is 0.
    UOp flat = ir::eq(n[0], zero) & (ir::le(n[1], zero) | ir::eq(n[1], ir::like(zero, kInfinity)));
    return n[0] * ir::log(ir::where(flat, ir::like(zero, 1.0), n[1]));
  });
}

Tensor ldexp(Arg x, Arg exponent) {
  return in_floats("ldexp", {&x, &exponent}, [](const Sources& n) { return n[0] * ir::alu(Op::Exp2, {n[1]}); });
}

Tensor lerp(Arg start, Arg end, Arg weight) {
  return in_floats("lerp", {&start, &end, &weight}, [](const Sources& n) {
    // From the nearer end, as PyTorch does.
    UOp way = n[1] - n[0], nearer = ir::lt(absolute_value(n[2]), ir::like(n[2], 0.5));
    return ir::where(nearer, n[0] + n[2] * way, n[1] - way * (1.0 - n[2]));
  });
}

Tensor addcdiv(Arg x, Arg a, Arg b, Arg value) {
  return in_floats("addcdiv", {&x, &a, &b, &value}, [](const Sources& n) { return n[0] + n[3] * n[1] / n[2]; });
}

}  // namespace sinter::inline v0
