// One expansion per op. Sources are float32 or float64, all of one type and shape; the result has the same type and
// shape and contains no kDecomposed op. Special values are C99's (FMod: NumPy's). Denormals are not flushed, neither on
// input nor on output. Coefficients are our own minimax fits (Remez and Lawson, rounded one by one).
// Errors are in ulp, float32 | float64. They are the largest measured over all floats (float32, one source; sin, cos
// and tan: every seventh), or over several million random numbers of every magnitude and near every point where a
// formula changes or cancels.
#pragma once

#include "codegen/normalize/math_support.h"

namespace sinter::codegen {

/// e^x for x whose result is a normal number. For use by other expansions.
UOp exp_normal(UOp x);

/// e^x as (1 + less_one) 2^n with |less_one| < 0.42, for an x whose result is no more than a normal number. For use by
/// other expansions.
struct SplitExp {
  UOp less_one, n;
};
SplitExp split_exp(FloatPair x);

/// 0.90 | 0.88 ulp. Cody-Waite reduction by ln 2 in two parts, a polynomial of degree 6 | 11, and a scaling that rounds
/// once, so that the result underflows gradually to 0 at -104 | -746. An argument known to be -|x| gives the same bits
/// in fewer instructions.
UOp expand_exp(UOp x);
/// 0.88 | 0.96 ulp, exact for integers. As exp, but the reduction is exact.
UOp expand_exp2(UOp x);
/// 1.44 | 1.81 ulp, exact for the smallest x. 2^n (e^r - 1) + (2^n - 1), where e^r - 1 is computed without
/// cancellation.
UOp expand_expm1(UOp x);
/// 2.46 | 2.42 ulp, odd to the bit. e / (e + 2) with e = e^2|x| - 1, computed without cancellation.
UOp expand_tanh(UOp x);

/// 0.94 | 0.79 ulp; log(+-0) = -inf, NaN for negative x. A polynomial of degree 10 on [2/3, 4/3] | the series of
/// fdlibm's e_log.c.
UOp expand_log(UOp x);
/// 1.42 | 0.66 ulp, exact for powers of two; otherwise as log, with log2(e) in two parts.
UOp expand_log2(UOp x);

/// log(size) of a finite float64 > 0 as a pair, relative error about 2^-67: the series of atanh (as in SLEEF's pow).
/// The first two terms are computed in pairs. For use by other expansions.
FloatPair log_pair(UOp size);
/// 0.501 | 0.501 ulp, exact for powers of ten; otherwise as log. float32 is computed in float64, float64 in pairs.
UOp expand_log10(UOp x);

/// 1.44 | 1.44 ulp, exact for the smallest x; log1p(-1) = -inf, NaN for smaller x. log(w) of the rounded w = 1 + x,
/// plus the rounding error of w divided by w.
UOp expand_log1p(UOp x);

/// 1.55 | 0.72 ulp over the whole range, at 1e30 as at 1; odd to the bit; NaN at infinity. The reduction is accurate
/// enough at every float. float32 is reduced in float64, by 1/(2 pi) in chunks: only in float64 is the product of a
/// float and a chunk exact. float64 uses Cody-Waite below 2^30 and Payne-Hanek in integers above. Kernels as in fdlibm.
UOp expand_sin(UOp x);
/// 1.55 | 0.70 ulp, as sin.
UOp expand_cos(UOp x);
/// 0.501 | 0.89 ulp, as sin. Kernels and quotient are computed in float64 for float32, in pairs for float64.
UOp expand_tan(UOp x);

/// 1.08 | 1.28 ulp, odd to the bit. x + x p(x^2) below 0.925 | 1. Above, 1 - e^q(x), where q approximates log(erfc(x))
/// (N. Juffa's form).
UOp expand_erf(UOp x);

/// 1.43 | 1.44 ulp, all values at zeros and infinities as in C99. The smaller of |x| and |y| by the larger, x + x^3
/// p(x^2) on [0, 1], and the quadrant's multiple of pi/2 in two parts.
UOp expand_atan2(UOp y, UOp x);

/// 1.56 | 1.54 ulp, odd to the bit; infinite only where the result is. A polynomial below 1, above e^|x|/2 - 1/(4
/// e^|x|/2).
UOp expand_sinh(UOp x);
/// 1.29 | 1.28 ulp, even to the bit; infinite only where the result is.
UOp expand_cosh(UOp x);
/// 0.501 | 1.45 ulp, odd to the bit. Logarithms of pairs; float32 in float64, because the argument needs more digits
/// than the result.
UOp expand_asinh(UOp x);
/// 0.501 | 1.78 ulp, NaN below 1. As asinh.
UOp expand_acosh(UOp x);
/// 0.501 | 1.21 ulp, odd to the bit; infinite at +-1, NaN beyond. As asinh.
UOp expand_atanh(UOp x);

/// 2.02 | 1.94 ulp, denormal results included. 1 - erf(x) near 0. Beyond, e^(-x^2) with x^2 in two parts times a
/// polynomial in
/// (|x| - a) / (|x| + a) divided by 1 + 2 |x| (M. Shepherd and J. Laframboise, Math. Comp. 36, 1981).
UOp expand_erfc(UOp x);
/// 1.83 | 2.29 ulp, odd to the bit; infinite at +-1, NaN beyond. x times a polynomial in w = -log(1 - x^2), or in
/// sqrt(w) near +-1 (M. Giles, "Approximating the erfinv function", 2010).
UOp expand_erfinv(UOp x);

/// 0.501 | 0.79 ulp, with all special values of C99 F.9.4.4. float32: exp2(y log2 x) in float64, because the exponent
/// needs 8 bits in addition to the 24 of the result. float64: exp(y log x) in pairs of floats, as in SLEEF.
UOp expand_pow(UOp x, UOp y);

/// NumPy's remainder: x - y floor(x / y), with the divisor's sign, also on zero. Exact, except for the addition of y
/// where the signs differ. |x / y| >= 2^46 | 2^104 and |y| < 2^-102 | 2^-969 take a long division. x % inf is x, or inf
/// where the signs differ. inf % y and x % 0 are NaN.
UOp expand_fmod(UOp x, UOp y);

}  // namespace sinter::codegen
