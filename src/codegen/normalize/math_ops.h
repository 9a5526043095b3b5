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
ir::UOp exp_normal(ir::UOp x);

/// e^x as (1 + less_one) 2^n with |less_one| < 0.42, for an x whose result is no more than a normal number. For use by
/// other expansions.
struct SplitExp {
  ir::UOp less_one, n;
};
SplitExp split_exp(FloatPair x);

/// 0.90 | 0.88 ulp. Cody-Waite reduction by ln 2 in two parts, a polynomial of degree 6 | 11, and a scaling that rounds
/// once, so that the result underflows gradually to 0 at -104 | -746. An argument known to be -|x| gives the same bits
/// in fewer instructions.
ir::UOp expand_exp(ir::UOp x);
/// 0.88 | 0.96 ulp, exact for integers. As exp, but the reduction is exact.
ir::UOp expand_exp2(ir::UOp x);
/// 1.44 | 1.81 ulp, exact for the smallest x. 2^n (e^r - 1) + (2^n - 1), where e^r - 1 is computed without
/// cancellation.
ir::UOp expand_expm1(ir::UOp x);
/// 2.46 | 2.42 ulp, odd to the bit. e / (e + 2) with e = e^2|x| - 1, computed without cancellation.
ir::UOp expand_tanh(ir::UOp x);

/// 0.94 | 0.79 ulp; log(+-0) = -inf, NaN for negative x. A polynomial of degree 10 on [2/3, 4/3] | the series of
/// fdlibm's e_log.c.
ir::UOp expand_log(ir::UOp x);
/// 1.42 | 0.66 ulp, exact for powers of two; otherwise as log, with log2(e) in two parts.
ir::UOp expand_log2(ir::UOp x);

/// log(size) of a finite float64 > 0 as a pair, relative error about 2^-67: the series of atanh (as in SLEEF's pow).
/// The first two terms are computed in pairs. For use by other expansions.
FloatPair log_pair(ir::UOp size);
/// 0.501 | 0.501 ulp, exact for powers of ten; otherwise as log. float32 is computed in float64, float64 in pairs.
ir::UOp expand_log10(ir::UOp x);

/// 1.44 | 1.44 ulp, exact for the smallest x; log1p(-1) = -inf, NaN for smaller x. log(w) of the rounded w = 1 + x,
/// plus the rounding error of w divided by w.
ir::UOp expand_log1p(ir::UOp x);

/// 1.55 | 0.72 ulp over the whole range, at 1e30 as at 1; odd to the bit; NaN at infinity. The reduction is accurate
/// enough at every float. float32 is reduced in float64, by 1/(2 pi) in chunks: only in float64 is the product of a
/// float and a chunk exact. float64 uses Cody-Waite below 2^30 and Payne-Hanek in integers above. Kernels as in fdlibm.
ir::UOp expand_sin(ir::UOp x);
/// 1.55 | 0.70 ulp, as sin.
ir::UOp expand_cos(ir::UOp x);
/// 0.501 | 0.89 ulp, as sin. Kernels and quotient are computed in float64 for float32, in pairs for float64.
ir::UOp expand_tan(ir::UOp x);

/// 1.08 | 1.28 ulp, odd to the bit. x + x p(x^2) below 0.925 | 1. Above, 1 - e^q(x), where q approximates log(erfc(x))
/// (N. Juffa's form).
ir::UOp expand_erf(ir::UOp x);

/// 1.43 | 1.44 ulp, all values at zeros and infinities as in C99. The smaller of |x| and |y| by the larger, x + x^3
/// p(x^2) on [0, 1], and the quadrant's multiple of pi/2 in two parts.
ir::UOp expand_atan2(ir::UOp y, ir::UOp x);

/// 1.56 | 1.54 ulp, odd to the bit; infinite only where the result is. A polynomial below 1, above e^|x|/2 - 1/(4
/// e^|x|/2).
ir::UOp expand_sinh(ir::UOp x);
/// 1.29 | 1.28 ulp, even to the bit; infinite only where the result is.
ir::UOp expand_cosh(ir::UOp x);
/// 0.501 | 1.45 ulp, odd to the bit. Logarithms of pairs; float32 in float64, because the argument needs more digits
/// than the result.
ir::UOp expand_asinh(ir::UOp x);
/// 0.501 | 1.78 ulp, NaN below 1. As asinh.
ir::UOp expand_acosh(ir::UOp x);
/// 0.501 | 1.21 ulp, odd to the bit; infinite at +-1, NaN beyond. As asinh.
ir::UOp expand_atanh(ir::UOp x);

/// 2.02 | 1.94 ulp, denormal results included. 1 - erf(x) near 0. Beyond, e^(-x^2) with x^2 in two parts times a
/// polynomial in
/// (|x| - a) / (|x| + a) divided by 1 + 2 |x| (M. Shepherd and J. Laframboise, Math. Comp. 36, 1981).
ir::UOp expand_erfc(ir::UOp x);
/// 1.83 | 2.29 ulp, odd to the bit; infinite at +-1, NaN beyond. x times a polynomial in w = -log(1 - x^2), or in
/// sqrt(w) near +-1 (M. Giles, "Approximating the erfinv function", 2010).
ir::UOp expand_erfinv(ir::UOp x);

/// 0.501 | 0.79 ulp, with all special values of C99 F.9.4.4. float32: exp2(y log2 x) in float64, because the exponent
/// needs 8 bits in addition to the 24 of the result. float64: exp(y log x) in pairs of floats, as in SLEEF.
ir::UOp expand_pow(ir::UOp x, ir::UOp y);

/// NumPy's remainder: x - y floor(x / y), with the divisor's sign, also on zero. Exact, except for the addition of y
/// where the signs differ. |x / y| >= 2^46 | 2^104 and |y| < 2^-102 | 2^-969 take a long division. x % inf is x, or inf
/// where the signs differ. inf % y and x % 0 are NaN.
ir::UOp expand_fmod(ir::UOp x, ir::UOp y);

}  // namespace sinter::codegen
