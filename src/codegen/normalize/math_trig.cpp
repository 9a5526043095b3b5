// sin, cos and tan over the whole range of floats: argument reduction to |r| <= pi/4, then fdlibm's kernels. atan2.
#include <vector>

#include "codegen/normalize/math_ops.h"
#include "codegen/normalize/math_support.h"

namespace sinter::codegen {
namespace {

// Minimax on |r| <= pi/4 in z = r^2: (sin(r)/r - 1) / z and (cos(r) - 1 + z/2) / z^2; relative errors 2^-27.8, 2^-32.9
// (Single), 2^-37.5, 2^-42.9 (Middle: float32 results computed in float64), 2^-57.9, 2^-63.8 (Double).
constexpr double kSinSingle[] = {-0x1.555544p-3, 0x1.1106c6p-7, -0x1.991c1cp-13};
constexpr double kCosSingle[] = {-0.5, 0x1.55554ap-5, -0x1.6c0c24p-10, 0x1.99e61ep-16};
constexpr double kSinMiddle[] = {-0x1.5555554c4d038p-3, 0x1.1111084f9d335p-7, -0x1.a00f69903c831p-13,
                                 0x1.6cccc931ba70ap-19};
constexpr double kCosMiddle[] = {-0.5, 0x1.5555554ebe5e9p-5, -0x1.6c16b80d22c75p-10, 0x1.a010cbdb83d1bp-16,
                                 -0x1.241ab6f207557p-22};
constexpr double kSinDouble[] = {-0x1.5555555555548p-3, 0x1.111111110f731p-7,   -0x1.a01a019be95fap-13,
                                 0x1.71de35557db8ap-19, -0x1.ae5e4bdde445fp-26, 0x1.5d8b77c6ce265p-33};
constexpr double kCosDouble[] = {0x1.555555555554ap-5,   -0x1.6c16c16c14e00p-10, 0x1.a01a019c5c38ep-16,
                                 -0x1.27e4f7cd31145p-22, 0x1.1ee9c334ec019p-29,  -0x1.8f99cb1837317p-37};

// (atan(x) / x - 1) / x^2 in x^2, up to x = 1: relative errors 2^-28.5 and 2^-57.6 of atan.
constexpr double kAtanSingle[] = {-0x1.55553ep-2, 0x1.9991eap-3, -0x1.2420f8p-3, 0x1.c092b2p-4,  -0x1.58203ap-4,
                                  0x1.da86f2p-5,  -0x1.fe506p-6, 0x1.651fcep-7,  -0x1.d5454ap-10};
constexpr double kAtanDouble[] = {
    -0x1.5555555555525p-2, 0x1.99999999954b8p-3,  -0x1.249249237c5fbp-3, 0x1.c71c717f3634p-4,    -0x1.745d11a4e328fp-4,
    0x1.3b1366332f3fp-4,   -0x1.110e4e13d6b3ap-4, 0x1.e1bb83cf0f44bp-5,  -0x1.ae5ddfab2acfap-5,  0x1.82d8f7a50689ep-5,
    -0x1.599f3f401c142p-5, 0x1.2c24f806ef3bfp-5,  -0x1.e9dd07212c46dp-6, 0x1.6819ec9dc1b1p-6,    -0x1.c74f6b615bedap-7,
    0x1.d75f914a684c9p-8,  -0x1.79decb2b12448p-9, 0x1.b37c4863dc0d5p-11, -0x1.3eca0c889aa49p-13, 0x1.bb421c8336436p-17};

/// |x| = (quadrant + r * 2/pi) * pi/2 modulo 2 pi, |r| <= pi/4 (slightly more after rounding). Only the low two bits of
/// `quadrant` are significant.
struct ReducedArgument {
  UOp r;         ///< float64
  UOp tail;      ///< float64: r + tail is the remainder
  UOp quadrant;  ///< uint64
};

/// Reduction of a float32, given as |x| in float64. The remainder must be accurate to 2^-57 at every float, because |r|
/// gets as small as 2^-31; only float64 makes the products for that exact. 1/(2 pi) is stored as three chunks in each
/// of two windows. The second window omits the bits that contribute whole turns. Below 2^60 the first chunk has 29 bits
/// and its product is exact. Above, |x| is a multiple of 2^37, and the product minus its integer part is exact.
/// Rounding in the later chunks is too small to matter.
ReducedArgument reduce_single(UOp x) {
  constexpr double kNear[] = {0x1.45f306d000000p-3, 0x1.9391054a7f09dp-32, 0x1.7d1f534ddc0dap-86};  // bits from 2^-3 on
  constexpr double kFar[] = {0x1.c882a53f84eaep-39, 0x1.a3ea69bb81b6cp-91,
                             0x1.4acc9e21c820ep-145};  // bits from 2^-38 on
  UOp near = lt(x, like(x, 0x1p60));
  auto chunk = [&](int i) { return where(near, like(x, kNear[i]), like(x, kFar[i])); };

  UOp first = chunk(0), second = chunk(1);
  UOp turns = fma(x, first, -alu(Op::Round, {x * first}));
  UOp shifted = fma(x, second, turns) + 0x1.8p50;  // rounds to quarters
  UOp rest = turns - (shifted - 0x1.8p50);
  rest = fma(x, chunk(2), fma(x, second, rest));
  return {rest * 0x1.921fb54442d18p+2, {}, bits_of(shifted)};
}

/// |x| < 2^30: Cody-Waite reduction by pi/2 in three parts of 53 bits. With an FMA the first step is exact.
ReducedArgument reduce_near(UOp x) {
  auto part = [x](double c) { return like(x, c); };
  RoundedProduct n = round_scaled(x, 0x1.45f306dc9c883p-1);
  UOp first = fma(n.value, part(-0x1.921fb54442d18p+0), x);
  FloatPair second = two_product(n.value, part(-0x1.1a62633145c07p-54));
  FloatPair sum = two_sum(first, second.hi);
  UOp rest = fma(n.value, part(0x1.f1976b7ed8fbcp-110), sum.lo + second.lo);
  FloatPair r = fast_two_sum(sum.hi, rest);
  return {r.hi, r.lo, n.word};
}

UOp low_half(UOp u) { return u & word(u, 0xffffffffu); }
UOp high_half(UOp u) { return shr(u, 32); }
/// An integer below 2^32 as a float64.
UOp to_float(UOp u) { return bitcast(u | word(u, 0x4330000000000000u), DType::F64) - 0x1p52; }

/// |x| >= 2^30: Payne-Hanek reduction in 64-bit integers. x = m 2^e. A window of 192 bits of 2/pi determines m 2^e 2/pi
/// modulo 4 down to 2^-124; |r| is at least 2^-62. The window is selected by bisection, which avoids a table lookup.
ReducedArgument reduce_far(UOp x) {
  // 2/pi after 24 zero bits. The window for x = 2^30 starts at the first of them.
  constexpr uint64_t kTwoOverPi[] = {0x000000a2f9836e4e, 0x441529fc2757d1f5, 0x34ddc0db6295993c, 0x439041fe5163abde,
                                     0xbbc561b7246e3a42, 0x4dd2e006492eea09, 0xd1921cfe1deb1cb1, 0x29a73ee88235f52e,
                                     0xbb4484e99c7026b4, 0x5f7e413991d63983, 0x5339f49c845f8bbd, 0xf9283b1ff897ffde,
                                     0x05980fef2f118b5a, 0x0a6d1f6d367ecf27, 0xcb09b74f463f669e, 0x5fea2d7527bac7eb,
                                     0xe5f17b3d0739f78a, 0x5292ea6bfb5fb11f, 0x8d5d0856033046fc};
  UOp bits = bits_of(x);
  UOp from = shr(bits, 52) - word(bits, 1023 + 30);  // first bit of the window
  UOp m = (bits & word(bits, (uint64_t{1} << 52) - 1)) | word(bits, uint64_t{1} << 52);

  std::vector<UOp> words = ir::mapped(kTwoOverPi, [&](uint64_t w) { return word(bits, w); });
  for (size_t step : {8u, 4u, 2u, 1u}) {
    UOp skip = ne(from & word(bits, 64 * step), word(bits, 0));
    std::vector<UOp> chosen;
    for (size_t i = 0; i < step + 3; ++i) chosen.push_back(where(skip, words[i + step], words[i]));
    words = std::move(chosen);
  }
  auto window = [&](size_t i) { return alu(Op::Shl, {words[i], from}) | alu(Op::Shr, {shr(words[i + 1], 1), ~from}); };
  UOp w0 = window(0), w1 = window(1), w2 = window(2);

  // The product modulo 2^192, without its lowest word. 64-bit multiplications give low halves only.
  UOp m_low = low_half(m), m_high = high_half(m);
  UOp low_low = m_low * low_half(w1);
  UOp middle = m_high * low_half(w1) + high_half(low_low);
  UOp middle2 = m_low * high_half(w1) + low_half(middle);
  UOp w1_high = m_high * high_half(w1) + high_half(middle) + high_half(middle2);
  UOp w2_high = m_high * high_half(w2) + high_half(m_low * high_half(w2)) + high_half(m_high * low_half(w2));
  UOp fraction = m * w1 + w2_high;
  UOp carry = cast(lt(fraction, w2_high), DType::U64);
  UOp head = m * w0 + w1_high + carry;

  // head is the quadrant in two bits, then the fraction. Round to the nearest quadrant; the signed rest becomes a sum
  // of floats.
  UOp quadrant = shr(head + word(head, uint64_t{1} << 61), 62);
  UOp rest = head - shl(quadrant, 62);
  UOp top = to_float(high_half(rest + word(rest, uint64_t{1} << 63))) - 0x1p31;  // signed
  FloatPair upper = fast_two_sum(top * 0x1p32, to_float(low_half(rest)));
  UOp lower = fma(to_float(high_half(fraction)), like(x, 0x1p-32), to_float(low_half(fraction)) * 0x1p-64);
  FloatPair sum = fast_two_sum(upper.hi, upper.lo + lower);

  constexpr double kScale[] = {0x1.921fb54442d18p-62, 0x1.1a62633145c07p-116};  // pi/2 * 2^-62
  FloatPair r = two_product(sum.hi, like(x, kScale[0]));
  UOp tail = fma(sum.lo, like(x, kScale[0]), fma(sum.hi, like(x, kScale[1]), r.lo));
  return {r.hi, tail, quadrant};
}

ReducedArgument reduce_double(UOp x) {
  UOp is_near = lt(x, like(x, 0x1p30));
  ReducedArgument near = reduce_near(x), far = reduce_far(x);
  // The reductions return garbage for infinity and NaN. x - x is NaN for exactly these.
  UOp poison = x - x;
  return {where(is_near, near.r, far.r) + poison, where(is_near, near.tail, far.tail),
          where(is_near, near.quadrant, far.quadrant)};
}

UOp bit(UOp u, uint64_t mask) { return ne(u & word(u, mask), word(u, 0)); }
/// x, negated where `bit` is set: the lowest bit of a word as wide as x, whose other bits do not matter.
UOp negate_if(UOp bit, UOp x) {
  return bitcast(bits_of(x) ^ shl(bit, 8 * static_cast<int>(size_of(x->dtype)) - 1), x->dtype);
}
UOp sign_bit(UOp x) { return shr(bits_of(x), 8 * static_cast<int>(size_of(x->dtype)) - 1); }

UOp sin_single(UOp r, UOp z) { return fma(r * z, polynomial(z, kSinSingle), r); }
UOp cos_single(UOp r, UOp z) { return fma(z, polynomial(z, kCosSingle), like(r, 1)); }

/// fdlibm's k_sin.c and k_cos.c with FMAs. hi alone is accurate to 0.7 ulp.
FloatPair sin_double(UOp r, UOp tail, UOp z) {
  return fast_two_sum(r, fma(r * z, polynomial(z, kSinDouble), fma(z * -0.5, tail, tail)));
}
FloatPair cos_double(UOp r, UOp tail, UOp z) {
  UOp half = z * 0.5, head = 1.0 - half;
  UOp half_error = fma(r * 0.5, r, -half);
  UOp rest = fma(z * z, polynomial(z, kCosDouble), -(r * tail)) - half_error;
  return fast_two_sum(head, (1.0 - head - half) + rest);
}

/// sin(|x| + shift * pi/2), with the sign of x if `odd`.
UOp sine(UOp x, uint64_t shift, bool odd) {
  UOp size = absolute(x), result, quadrant;
  if (x->dtype == DType::F32) {
    ReducedArgument reduced = reduce_single(cast(size, DType::F64));
    quadrant = cast(reduced.quadrant, DType::U32) + word(bits_of(x), shift);
    UOp r = cast(reduced.r, DType::F32), z = r * r;
    result = where(bit(quadrant, 1), cos_single(r, z), sin_single(r, z));
  } else {
    auto [r, tail, q] = reduce_double(size);
    quadrant = q + word(q, shift);
    UOp z = r * r;
    result = where(bit(quadrant, 1), cos_double(r, tail, z).hi, sin_double(r, tail, z).hi);
  }
  UOp negative = shr(quadrant, 1) & word(quadrant, 1);
  if (odd) negative = negative ^ sign_bit(x);
  return negate_if(negative, result);
}

}  // namespace

UOp expand_sin(UOp x) { return sine(x, 0, true); }
UOp expand_cos(UOp x) { return sine(x, 1, false); }

UOp expand_tan(UOp x) {
  // tan(r + pi/2) = -cos(r) / sin(r)
  UOp ratio, quadrant;
  if (x->dtype == DType::F32) {
    // In float64, where the errors of kernels and quotient do not show in the float32 result.
    auto [r, tail, q] = reduce_single(cast(absolute(x), DType::F64));
    UOp z = r * r, odd = bit(q, 1);
    UOp sin = fma(r * z, polynomial(z, kSinMiddle), r), cos = fma(z, polynomial(z, kCosMiddle), like(z, 1));
    ratio = where(odd, cos, sin) / where(odd, sin, cos);
    quadrant = q;
  } else {
    auto [r, tail, q] = reduce_double(absolute(x));
    UOp z = r * r, odd = bit(q, 1);
    FloatPair sin = sin_double(r, tail, z), cos = cos_double(r, tail, z);
    FloatPair above = {where(odd, cos.hi, sin.hi), where(odd, cos.lo, sin.lo)};
    FloatPair below = {where(odd, sin.hi, cos.hi), where(odd, sin.lo, cos.lo)};
    ratio = above.hi / below.hi;
    UOp remainder = fma(-ratio, below.lo, fma(-ratio, below.hi, above.hi) + above.lo);
    ratio = ratio + remainder / below.hi;
    quadrant = q;
  }
  ratio = cast(negate_if(quadrant & word(quadrant, 1), ratio), x->dtype);
  return negate_if(sign_bit(x), ratio);
}

UOp expand_atan2(UOp y, UOp x) {
  const bool single = x->dtype == DType::F32;
  UOp height = absolute(y), width = absolute(x), zero = like(x, 0), bits = bits_of(x);
  UOp steep = lt(width, height), back = ne(bits & word(bits, format_of(x->dtype).sign), word(bits, 0));
  UOp above = where(steep, width, height), below = where(steep, height, width);
  // Equal ones may be zeros or infinities.
  UOp t = where(eq(above, below), where(eq(below, zero), zero, like(x, 1)), above / below);
  UOp square = t * t;
  UOp angle = fma(t * square, single ? polynomial(square, kAtanSingle) : polynomial(square, kAtanDouble), t);
  // From the nearest axis: 0, pi/2 or pi.
  constexpr double kHalfPiSingle[] = {0x1.921fb6p+0, -0x1.777a5cp-25},
                   kHalfPiDouble[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
  const double* half_pi = single ? kHalfPiSingle : kHalfPiDouble;
  auto axis = [&](double part) { return where(steep, like(x, part), where(back, like(x, 2 * part), zero)); };
  UOp turned = where(ne(steep, back), -angle, angle);
  return with_sign(axis(half_pi[0]) + (turned + axis(half_pi[1])), y);
}

}  // namespace sinter::codegen
