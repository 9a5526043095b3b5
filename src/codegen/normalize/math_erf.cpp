// erf, erfc and erfinv. erf: a polynomial near 0, elsewhere 1 - e^p(x) with a polynomial p for log(erfc(x)).
#include "codegen/normalize/math_ops.h"
#include "codegen/normalize/math_support.h"

namespace sinter::codegen {
namespace {

// (erf(x) / x - 1) in x^2, up to x = 0.93 and 1: relative errors 2^-25.8 and 2^-56.3 of erf.
constexpr double kSmallSingle[] = {0x1.06eba6p-3,  -0x1.8126e2p-2, 0x1.ce1986p-4,
                                   -0x1.b67c04p-6, 0x1.46d9e2p-8,  -0x1.38741cp-11};
constexpr double kSmallDouble[] = {0x1.06eba8214db69p-3,   -0x1.812746b0379e6p-2,  0x1.ce2f21a042b20p-4,
                                   -0x1.b82ce3128499cp-6,  0x1.565bcd0db02d5p-8,   -0x1.c02db3d8ed056p-11,
                                   0x1.f9a321a11b127p-14,  -0x1.f4d1df3920cbap-17, 0x1.b9def19c33012p-20,
                                   -0x1.5f1d36b604790p-23, 0x1.f7a411c221efap-27,  -0x1.386abfb76e7adp-30,
                                   0x1.0579a87df7f0fp-34};
// log(erfc(x)) / x in x on [0.92, 4], and in x - 2 on [1, 6]: errors 2^-30.3 and 2^-54.8 of erf. The fit weights errors
// by erfc.
constexpr double kLargeSingle[] = {-0x1.20ef1cp+0, -0x1.45328ap-1, -0x1.b3259cp-4, 0x1.8551d2p-6,
                                   -0x1.dd6e38p-9, 0x1.527e5ep-12, -0x1.78e134p-17};
constexpr double kLargeDouble[] = {
    -0x1.575b329b1f516p+1, -0x1.bc5630f3f86b0p-1,  -0x1.c9fadda99c03ep-6, 0x1.786e4f5d57f96p-8,  -0x1.1cd5eb464645cp-10,
    0x1.735db63c40873p-13, -0x1.5e6844760c298p-16, 0x1.8173167b4bca1p-24, 0x1.f3f381ce25c84p-21, -0x1.86a46dc47d330p-22,
    0x1.99434970a1ae1p-24, -0x1.41abb8375f27bp-26, 0x1.4a1f0a6557143p-29, 0x1.d177350e27ca4p-35, -0x1.76a70879032acp-33,
    0x1.356b4d19ecb32p-34, -0x1.161369018d3bep-36, 0x1.ab7e64c764985p-40};

// (1 + 2 x) e^(x^2) erfc(x) in (x - a) / (x + a), x in [0.3, 10.2] and [0.3, 27.3]: relative errors 2^-31.0 and
// 2^-59.4. Each a is a number at which the first coefficient is nearly a float.
constexpr double kMiddleSingle = 2.8671875, kMiddleDouble = 3.3203125;
constexpr double kScaledSingle[] = {0x1.418ca2p+0,  -0x1.10c856p-3, -0x1.e90bfcp-5, 0x1.1a853ep-3,
                                    -0x1.e1273cp-4, 0x1.ee225ap-5,  -0x1.107a0ep-6, -0x1.3ca52p-11,
                                    0x1.1bbc9ep-9,  -0x1.3c289p-12, -0x1.06cd96p-12};
constexpr double kScaledDouble[] = {
    0x1.3efbbd7e8be38p+0,   -0x1.1cf7dd064447p-3,   -0x1.6efbd5875ce16p-6, 0x1.be506c25d15a6p-4,
    -0x1.e41c6b192d19dp-4,  0x1.52e75d9a1fc73p-4,   -0x1.4b867b9967b73p-5, 0x1.9c33236d6a8d9p-7,
    -0x1.2a4054a10ae0ep-10, -0x1.0135c5a0cc7c7p-10, 0x1.af0ad763dea8fp-12, 0x1.e949af51131b8p-16,
    -0x1.faeeac27a6553p-15, 0x1.23dc442333554p-18,  0x1.1eb5584b60a56p-17, -0x1.4a6052aaa891ep-20,
    -0x1.681bbf9400b4cp-20, 0x1.bea2623cb896p-23,   0x1.f40a693b837a8p-23, -0x1.b84c8c6b6789cp-26,
    -0x1.4b98c08db0c97p-25, 0x1.df53189f0e4cbp-30,  0x1.1d6647afe63dep-28};

// erfinv(x) / x in w = -log(1 - x^2), or in its root, less the number beside the range. Errors 2^-26.9, 2^-28.1 |
// 2^-57.3, 2^-57.5, 2^-57.6.
constexpr double kShiftSingle[] = {2.28125, 3.203125}, kShiftDouble[] = {3.375, 3.171875, 4.984375};
constexpr double kInverseSingle[] = {0x1.728052p+0,  0x1.fc79a2p-3,   -0x1.af8332p-9, -0x1.7ae7fep-10, 0x1.cfb58cp-13,
                                     0x1.3cc2b4p-25, -0x1.158e12p-18, 0x1.b7e3b2p-22, 0x1.5b009ap-25,  -0x1.2c389cp-27};
constexpr double kInverseTailSingle[] = {0x1.84b516p+1,   0x1.0135f6p+0,  0x1.84d56p-8,   -0x1.1701c8p-8,
                                         0x1.7e73bp-9,    -0x1.0298c6p-9, 0x1.1b8da2p-10, -0x1.79edc8p-12,
                                         -0x1.19081ap-15, 0x1.a2721p-14,  -0x1.09c98p-15};
constexpr double kInverseDouble[] = {
    0x1.b69b3b48e2406p+0,   0x1.e567857cc6ee9p-3,   -0x1.ab6328118b05bp-8,  -0x1.272ea5343514ap-11,
    0x1.61005217232fp-13,   -0x1.02679a04f1034p-16, -0x1.6cf9580dde5cep-21, 0x1.805fece2cc03bp-22,
    -0x1.3130934912645p-25, -0x1.d58b288e1360ep-30, 0x1.d8dc2e4d7a93ap-31,  -0x1.63cd6eb69e725p-34,
    -0x1.68d34c59b4db4p-38, 0x1.2d5198a7c03f9p-39,  -0x1.9d61328143cecp-43, -0x1.1839c790e9076p-46,
    0x1.86fe3db1d34b7p-48,  -0x1.e9228ce823807p-52, -0x1.bb7c322bea62ep-55, 0x1.132e2c40ef80dp-56,
    -0x1.e325118f43b74p-61, -0x1.fbc46c78fc55dp-63, 0x1.1a9d3821c49f5p-65,  0x1.a39453c024f88p-70,
    -0x1.6e8f40ab32317p-72};  // w < 6.25
constexpr double kInverseTailDouble[] = {
    0x1.80b06fcdb3354p+1,   0x1.011cd1a506398p+0,   0x1.a02673df00eaep-8,   -0x1.303e4bdcae8d8p-8,
    0x1.a937fff96f27dp-9,   -0x1.1ddb969c56cffp-9,  0x1.2d0e3f9273b13p-10,  -0x1.714f1840c8159p-12,
    -0x1.3dd99605dd234p-15, 0x1.c941a40733915p-14,  -0x1.d7e0dd1ea8013p-15, 0x1.fb8e99a6af382p-18,
    0x1.054b6cf4ed228p-17,  -0x1.74376a8c8024ap-18, 0x1.5ccd3c3400a93p-20,  0x1.a7dd6236aa19bp-22,
    -0x1.e2333c2683075p-22, 0x1.2c336bfce9ba2p-23,  0x1.ebfca60e74cd9p-26,  -0x1.ca9486011dadfp-26};  // w < 15
constexpr double kInverseEndDouble[] = {
    0x1.35623aa11333ap+2,  0x1.02a35330e2f5dp+0,   -0x1.0d8ac953fc53cp-13, -0x1.cd0360f35f7b1p-13,
    0x1.45444696f93d4p-14, -0x1.5169126326031p-16, 0x1.372234fca8c47p-18,  -0x1.12697fec37489p-20,
    0x1.00803cd27a82bp-22, -0x1.3699bd82313bep-24, 0x1.10d107905e675p-25,  -0x1.1fc55462df3bbp-26,
    0x1.26a137b5e386ap-27, -0x1.073cdd02f9662p-28, 0x1.81527ec4ace52p-30,  -0x1.b62383493d871p-32,
    0x1.29cde39470758p-34, 0x1.7160ec747252bp-36,  -0x1.90567e1e57406p-36, 0x1.9bb264fa0596ep-38};

/// erf for x up to 0.93 and 1.
UOp small_erf(UOp x) {
  UOp square = x * x;
  return fma(x, x->dtype == DType::F32 ? polynomial(square, kSmallSingle) : polynomial(square, kSmallDouble), x);
}

}  // namespace

UOp expand_erf(UOp x) {
  const bool single = x->dtype == DType::F32;
  UOp small = small_erf(x);

  UOp size = absolute(x);
  UOp bounded = at_most(size, single ? 4 : 6);  // from there on the result rounds to 1
  UOp p = single ? polynomial(bounded, kLargeSingle) : polynomial(bounded - 2.0, kLargeDouble);
  UOp large = with_sign(1.0 - exp_normal(bounded * p), x);
  return where(lt(size, like(x, single ? 0.925 : 1)), small, large);
}

UOp expand_erfc(UOp x) {
  const bool single = x->dtype == DType::F32;
  UOp size = at_most(absolute(x), single ? 10.1 : 27.3);  // from there on the result rounds to 0
  const double middle = single ? kMiddleSingle : kMiddleDouble;
  UOp t = (size - middle) / (size + middle);
  const std::span<const double> coefficients = single ? std::span<const double>(kScaledSingle) : kScaledDouble;
  UOp first = like(x, coefficients[0]), slope = polynomial(t, coefficients.subspan(1));
  UOp above = fma(slope, t, first), above_error = fma(slope, t, first - above);
  // The quotient by 1 + 2 size, as a pair.
  FloatPair below = two_sum(size + size, like(x, 1));
  UOp inverse = 1.0 / below.hi, quotient = above * inverse;
  UOp rest = fma(-quotient, below.lo, fma(-quotient, below.hi, above) + above_error) * inverse;
  // times e^(-size^2)
  FloatPair square = two_product(size, size);
  auto [less_one, n] = split_exp({-square.hi, -square.lo});
  UOp large = ldexp(quotient + fma(quotient, less_one, rest), n);
  large = where(lt(x, like(x, 0)), 2.0 - large, large);
  return where(lt(size, like(x, 0.375)), 1.0 - small_erf(x), large);
}

UOp expand_erfinv(UOp x) {
  UOp w = -expand_log(fma(-x, x, like(x, 1))), root = sqrt(w), ratio;
  if (x->dtype == DType::F32) {
    ratio = where(lt(w, like(w, 5)), polynomial(w - kShiftSingle[0], kInverseSingle),
                  polynomial(root - kShiftSingle[1], kInverseTailSingle));
  } else {
    UOp tail = where(lt(w, like(w, 15)), polynomial(root - kShiftDouble[1], kInverseTailDouble),
                     polynomial(root - kShiftDouble[2], kInverseEndDouble));
    ratio = where(lt(w, like(w, 6.25)), polynomial(w - kShiftDouble[0], kInverseDouble), tail);
  }
  UOp infinity = like(x, kInf);
  return where(eq(w, infinity), with_sign(infinity, x), x * ratio);
}

}  // namespace sinter::codegen
