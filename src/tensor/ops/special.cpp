// Functions of floats that are several ops, written so that neither values nor gradients overflow or cancel on the way.
#include <limits>
#include <numbers>

#include "sinter/ops.h"
#include "tensor/ops/in_floats.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// sqrt(1 - x^2), rounded twice. Its slope is infinite at +-1, which makes those of asin and acos so too.
UOp other_leg(UOp x) { return sqrt(fma(-x, x, like(x, 1.0))); }
UOp absolute_value(UOp x) { return alu(Op::Abs, {x}); }
UOp is_infinite(UOp x) { return eq(absolute_value(x), like(x, kInfinity)); }

/// The larger of two and what the smaller is above it: log(e^a + e^b) = larger + log(1 + e^difference). One expression
/// in both, so that derivatives of every order are right where they are equal.
struct OrderedPair {
  UOp larger, difference;
};
OrderedPair ordered(UOp a, UOp b) {
  UOp above = lt(b, a), larger = where(above, a, b), smaller = where(above, b, a);
  UOp both_infinite = eq(a, b) & is_infinite(a);
  return {larger, where(both_infinite, like(a, 0.0), smaller - larger)};
}

}  // namespace

Tensor asin(Arg x) {
  return in_floats("asin", {&x}, [](const Sources& n) { return alu(Op::Atan2, {n[0], other_leg(n[0])}); });
}
Tensor acos(Arg x) {
  return in_floats("acos", {&x}, [](const Sources& n) { return alu(Op::Atan2, {other_leg(n[0]), n[0]}); });
}
Tensor atan(Arg x) {
  return in_floats("atan", {&x}, [](const Sources& n) { return alu(Op::Atan2, {n[0], like(n[0], 1.0)}); });
}
Tensor atan2(Arg y, Arg x) {
  return in_floats("atan2", {&y, &x}, [](const Sources& n) { return alu(Op::Atan2, {n[0], n[1]}); });
}

Tensor sinc(Arg x) {
  return in_floats("sinc", {&x}, [](const Sources& n) {
    UOp zero = eq(n[0], like(n[0], 0.0)), one = like(n[0], 1.0);
    UOp angle = where(zero, one, n[0]) * std::numbers::pi;
    return where(zero, one, alu(Op::Sin, {angle}) / angle);
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
      UOp lo = like(p, *eps), hi = like(p, 1 - *eps);
      p = where(lt(p, lo), lo, where(lt(hi, p), hi, p));
    }
    // Near 1/2 the logarithms would cancel: log(p / (1 - p)) = 2 atanh(2 p - 1), where 2 p - 1 is exact.
    UOp centered = fma(p, like(p, 2.0), like(p, -1.0));
    UOp near = lt(absolute_value(centered), like(p, 0.5));
    UOp odds = alu(Op::Atanh, {where(near, centered, like(p, 0.0))}) * 2.0;
    return where(near, odds, log(p) - alu(Op::Log1p, {-p}));
  });
}

Tensor hypot(Arg a, Arg b) {
  return in_floats("hypot", {&a, &b}, [](const Sources& n) {
    // Scaled by a power of two where squares would overflow or lose bits; it has no history, so gradients see sqrt
    // alone.
    UOp x = n[0], y = n[1], size = maximum(absolute_value(detach(x)), absolute_value(detach(y)));
    const bool wide = x->dtype == DType::F64;
    const double huge = wide ? 0x1p500 : 0x1p60, down = wide ? 0x1p-600 : 0x1p-80;
    const double tiny = wide ? 0x1p-500 : 0x1p-50, up = wide ? 0x1p600 : 0x1p90;
    UOp is_huge = lt(like(size, huge), size), is_tiny = lt(size, like(size, tiny));
    auto by = [&](double if_huge, double if_tiny) {
      return where(is_huge, like(size, if_huge), where(is_tiny, like(size, if_tiny), like(size, 1)));
    };
    UOp scale = by(down, up);
    x = x * scale, y = y * scale;
    UOp length = sqrt(fma(x, x, y * y)) * by(1 / down, 1 / up);
    return where(is_infinite(x) | is_infinite(y), like(x, kInfinity), length);  // also with a NaN
  });
}

Tensor logaddexp(Arg a, Arg b) {
  return in_floats("logaddexp", {&a, &b}, [](const Sources& n) {
    const OrderedPair pair = ordered(n[0], n[1]);
    return pair.larger + alu(Op::Log1p, {exp(pair.difference)});
  });
}
Tensor logaddexp2(Arg a, Arg b) {
  return in_floats("logaddexp2", {&a, &b}, [](const Sources& n) {
    const OrderedPair pair = ordered(n[0], n[1]);
    return pair.larger + alu(Op::Log1p, {alu(Op::Exp2, {pair.difference})}) * std::numbers::log2e;
  });
}

Tensor xlogy(Arg x, Arg y) {
  return in_floats("xlogy", {&x, &y}, [](const Sources& n) {
    UOp zero = like(n[0], 0.0);
    // Where log(y) is not finite and x is 0.
    UOp flat = eq(n[0], zero) & (le(n[1], zero) | eq(n[1], like(zero, kInfinity)));
    return n[0] * log(where(flat, like(zero, 1.0), n[1]));
  });
}

Tensor ldexp(Arg x, Arg exponent) {
  return in_floats("ldexp", {&x, &exponent}, [](const Sources& n) { return n[0] * alu(Op::Exp2, {n[1]}); });
}

Tensor lerp(Arg start, Arg end, Arg weight) {
  return in_floats("lerp", {&start, &end, &weight}, [](const Sources& n) {
    // From the nearer end, as PyTorch does.
    UOp way = n[1] - n[0], nearer = lt(absolute_value(n[2]), like(n[2], 0.5));
    return where(nearer, n[0] + n[2] * way, n[1] - way * (1.0 - n[2]));
  });
}

Tensor addcdiv(Arg x, Arg a, Arg b, Arg value) {
  return in_floats("addcdiv", {&x, &a, &b, &value}, [](const Sources& n) { return n[0] + n[3] * n[1] / n[2]; });
}

}  // namespace sinter::inline v0
