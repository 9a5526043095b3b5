// erf: a polynomial near 0, elsewhere 1 - e^p(x) with a polynomial p for log(erfc(x)).
#include "codegen/normalize/math_ops.h"
#include "codegen/normalize/math_support.h"

namespace sinter::codegen {
namespace {

using ir::UOp;

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

}  // namespace

UOp expand_erf(UOp x) {
  const bool single = x->dtype == DType::F32;
  UOp square = x * x;
  UOp small = fma(x, single ? polynomial(square, kSmallSingle) : polynomial(square, kSmallDouble), x);

  UOp size = absolute(x);
  UOp bounded = at_most(size, single ? 4 : 6);  // from there on the result rounds to 1
  UOp p = single ? polynomial(bounded, kLargeSingle) : polynomial(bounded - 2.0, kLargeDouble);
  UOp large = with_sign(1.0 - exp_normal(bounded * p), x);
  return where(lt(size, like(x, single ? 0.925 : 1)), small, large);
}

}  // namespace sinter::codegen
