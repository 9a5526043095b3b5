// exp, exp2, expm1, tanh, sinh and cosh: range reduction by a power of two, a polynomial on the remainder, scaling
// back.
#include "codegen/normalize/math_ops.h"
#include "codegen/normalize/math_support.h"
#include "ir/splat.h"

namespace sinter::codegen {
namespace {

constexpr double kLog2E = kLog2EDouble[0];

// (e^r - 1 - r) / r^2 on |r| <= ln2/2: relative errors 2^-28.2 and 2^-57.1 of e^r.
constexpr double kExpSingle[] = {0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558bep-5, 0x1.1239ecp-7, 0x1.6a4002p-10};
constexpr double kExpDouble[] = {
    0x1.000000000000ap-1,  0x1.55555555554f7p-3,  0x1.55555555506b9p-5,  0x1.111111112846ep-7,  0x1.6c16c184944fep-10,
    0x1.a01a0128435d6p-13, 0x1.a01998db9b13bp-16, 0x1.71df2819ec9bcp-19, 0x1.28ae99a074c7fp-22, 0x1.ad7e07940e111p-26};

// (2^r - 1) / r on |r| <= 1/2: relative errors 2^-28.3 and 2^-54.8 of 2^r.
constexpr double kExp2Single[] = {0x1.62e43p-1,  0x1.ebfbdcp-3,  0x1.c6af78p-5,
                                  0x1.3b2dd6p-7, 0x1.5f0ae2p-10, 0x1.41782p-13};
constexpr double kExp2Double[] = {0x1.62e42fefa39efp-1,  0x1.ebfbdff82c5a5p-3,  0x1.c6b08d7049fe1p-5,
                                  0x1.3b2ab6fb9ff3ep-7,  0x1.5d87fe78ce5aap-10, 0x1.4309130f40141p-13,
                                  0x1.ffcbfba668e9ep-17, 0x1.62bfc687a01adp-20, 0x1.b52680913b5d0p-24,
                                  0x1.e61d4b491e7cap-28, 0x1.e79a1ed8e6089p-32};

// (e^2r - 1 - 2r) / r^2 on |r| <= ln2/4: relative errors 2^-31.1 and 2^-60.4 of e^2r - 1.
constexpr double kExpm1Single[] = {0x1p+1, 0x1.555554p+0, 0x1.5554f8p-1, 0x1.1112d4p-2, 0x1.6d3aacp-4, 0x1.9e7d7ep-6};
constexpr double kExpm1Double[] = {0x1.0000000000000p+1,  0x1.5555555555559p+0,  0x1.555555555553ep-1,
                                   0x1.111111110f63dp-2,  0x1.6c16c16c1f382p-4,  0x1.a01a01b01a4aap-6,
                                   0x1.a01a017b280d0p-8,  0x1.71ddf7baa6df8p-10, 0x1.27e536d263d41p-12,
                                   0x1.af5fe8a16e01bp-15, 0x1.1ee88ccf961fdp-17};

// The same with one coefficient less: relative error 2^-25.7, and 2^-26.7 near |r| = 1/16, where the error of tanh is
// largest.
constexpr double kTanhSingle[] = {0x1p+1, 0x1.5554d8p+0, 0x1.5555e0p-1, 0x1.120f92p-2, 0x1.6c2310p-4};

// (sinh(x) / x - 1) / x^2 in x^2, up to x = 1: relative errors 2^-31.3 and 2^-61.5 of sinh.
constexpr double kSinhSingle[] = {0x1.555556p-3, 0x1.1110ecp-7, 0x1.a01a8cp-13, 0x1.76c1b2p-19};
constexpr double kSinhDouble[] = {0x1.5555555555556p-3,  0x1.111111111103dp-7,  0x1.a01a01a0320b2p-13,
                                  0x1.71de3a3fde41bp-19, 0x1.ae646bb859abfp-26, 0x1.6118b2712096dp-33,
                                  0x1.b53d314b9446fp-41};

bool single(UOp x) { return x->dtype == DType::F32; }

/// x - n * scale * ln2
UOp reduce(UOp x, UOp n, double scale) {
  const double* ln2 = single(x) ? kLn2Single : kLn2Double;
  return fma(n, like(x, -ln2[1] * scale), fma(n, like(x, -ln2[0] * scale), x));
}
/// e^r, |r| <= ln2/2
UOp exp_core(UOp r) {
  UOp q = single(r) ? polynomial(r, kExpSingle) : polynomial(r, kExpDouble);
  return fma(r, fma(r, q, like(r, 1)), like(r, 1));
}

/// e^size / 2 for size >= 0. Overflows where sinh and cosh do.
UOp half_exp(UOp size) {
  UOp bounded = at_most(size, single(size) ? 90 : 711);
  RoundedProduct n = round_scaled(bounded, kLog2E);
  return ldexp(exp_core(reduce(bounded, n.value, 1)), n.value - 1.0);
}

/// e^2r - 1, |r| <= ln2/4
UOp twice_less_one(UOp r, std::span<const double> coefficients) {
  return fma(r * r, polynomial(r, coefficients), r + r);
}

/// Whether x is an absolute value or a square, which is never negative.
bool is_magnitude(UOp x) { return x->op == Op::Abs || (x->op == Op::Mul && x->src[0] == x->src[1]); }
/// -x, if x is a negated magnitude, possibly scaled; else null. The sign of a zero may differ, which exp ignores.
UOp magnitude_behind(UOp x) {
  if (x->op == Op::Neg) return is_magnitude(x->src[0]) ? x->src[0] : UOp();
  if (x->op == Op::Where) {
    UOp y = x->src[2];
    return x == where(le(like(y, 0), y), -y, y) ? absolute(y) : UOp();
  }
  const UOp factor = x->op == Op::Mul ? ir::splat_const(x->src[1]) : UOp();
  if (!factor) return {};
  const double by = factor->scalar().as_double();
  if (by < 0 && is_magnitude(x->src[0])) return x->src[0] * -by;
  return by > 0 && x->src[0]->op == Op::Neg && is_magnitude(x->src[0]->src[0]) ? x->src[0]->src[0] * by : UOp();
}

/// Whether x is y - max(y), which is never positive.
bool is_below_maximum(UOp x) {
  if (x->op != Op::Sub || x->src[1]->op != Op::Reduce) return false;
  const ir::ReduceAttr& maximum = x->src[1]->reduction();
  return maximum.combine == ir::Combine::Max && x->src[1]->src[0] == x->src[0];
}

}  // namespace

UOp exp_normal(UOp x) {
  RoundedProduct n = round_scaled(x, kLog2E, format_of(x->dtype).bias);
  return exp_core(reduce(x, n.value, 1)) * power_of_two(n);
}

SplitExp split_exp(FloatPair x) {
  RoundedProduct n = round_scaled(x.hi, kLog2E);
  UOp r = reduce(x.hi, n.value, 1) + x.lo;
  return {fma(r * r, single(r) ? polynomial(r, kExpSingle) : polynomial(r, kExpDouble), r), n.value};
}

UOp expand_exp(UOp x) {
  if (UOp behind = magnitude_behind(x)) {
    // The sign is folded into the constants below. Compilers recognize this select as a min.
    UOp size = at_most(behind, single(x) ? 104 : 746);
    RoundedProduct n = round_scaled(size, -kLog2E);
    return ldexp(exp_core(-reduce(size, n.value, -1)), n.value);
  }
  const double low = single(x) ? -104 : -746, high = single(x) ? 89 : 710;  // the result is 0 or infinity before these
  UOp bounded = is_below_maximum(x) ? at_least(x, low) : clamp(x, low, high);
  RoundedProduct n = round_scaled(bounded, kLog2E);
  return ldexp(exp_core(reduce(bounded, n.value, 1)), n.value);
}

UOp expand_exp2(UOp x) {
  UOp bounded = single(x) ? clamp(x, -151, 129) : clamp(x, -1076, 1025);
  RoundedProduct n = round_scaled(bounded, 1);
  UOp r = bounded - n.value;  // exact
  UOp q = single(x) ? polynomial(r, kExp2Single) : polynomial(r, kExp2Double);
  return ldexp(fma(r, q, like(r, 1)), n.value);
}

UOp expand_expm1(UOp x) {
  UOp half = (single(x) ? clamp(x, -18, 89) : clamp(x, -38, 710)) * 0.5;  // the result is -1 or infinity before these
  RoundedProduct n = round_scaled(half, 2 * kLog2E, format_of(x->dtype).bias - 1);
  UOp p = twice_less_one(reduce(half, n.value, 0.5), single(x) ? std::span<const double>(kExpm1Single) : kExpm1Double);
  UOp power = power_of_two(n);                                          // 2^(n - 1), because 2^n may overflow
  UOp small = lt(absolute(x), like(x, single(x) ? 0x1p-25 : 0x1p-54));  // includes -0 and denormals
  return where(small, x, fma(power, p, power - 0.5) * 2.0);
}

UOp expand_tanh(UOp x) {
  UOp size = at_most(absolute(x), single(x) ? 10 : 20);  // beyond that the result rounds to 1
  // e = e^(2|x|) - 1 without cancellation: 2^n (p + 1) - 1 = 2^n p + (2^n - 1), p = e^2r - 1.
  RoundedProduct n = round_scaled(size, 2 * kLog2E, format_of(x->dtype).bias);
  // One part of ln 2 is enough for float32: its error grows with n, where tanh is nearly constant.
  UOp p = single(x) ? twice_less_one(fma(n.value, like(x, -kLn2Single[0] / 2), size), kTanhSingle)
                    : twice_less_one(reduce(size, n.value, 0.5), kExpm1Double);
  UOp power = power_of_two(n);
  UOp e = fma(power, p, power - 1.0);
  return with_sign(e / (e + 2.0), x);
}

UOp expand_sinh(UOp x) {
  UOp square = x * x, size = absolute(x), half = half_exp(size);
  UOp small = fma(x * square, single(x) ? polynomial(square, kSinhSingle) : polynomial(square, kSinhDouble), x);
  return where(lt(size, like(x, 1)), small, with_sign(half - 0.25 / half, x));
}

UOp expand_cosh(UOp x) {
  UOp half = half_exp(absolute(x));
  return half + 0.25 / half;
}

}  // namespace sinter::codegen
