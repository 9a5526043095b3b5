// One expansion per op. Sources are float32 or float64 of one type and shape; the result has that
// type and shape and holds no kDecomposed op. Special values are C99's (FMod: NumPy's); denormals are neither flushed
// on the way in nor on the way out. Coefficients are minimax fits of our own (Remez and Lawson, rounded one by one).
// Errors are in ulp, float32 | float64: the largest met over all floats (float32, one source; sin, cos and tan: every
// seventh), or over several million random numbers of every size and near every place where a formula changes or
// cancels.
#pragma once

#include "ir/graph.h"

namespace sinter::codegen {

/// e^x for an x small enough that the result is a normal number: what other expansions need.
ir::UOp exp_normal(ir::UOp x);

/// 0.90 | 0.88 ulp. Cody and Waite's reduction by ln 2 in two parts, a polynomial of degree 6 | 11, a scaling that
/// rounds once, so that the result runs through the denormals to 0 at -104 | -746. Of -|x| as a select: the same bits
/// in fewer steps.
ir::UOp expand_exp(ir::UOp x);
/// 0.88 | 0.96 ulp, exact for integers. As exp; the reduction is exact.
ir::UOp expand_exp2(ir::UOp x);
/// 1.44 | 1.81 ulp, exact for the smallest x. 2^n (e^r - 1) + (2^n - 1) with e^r - 1 free of cancellation.
ir::UOp expand_expm1(ir::UOp x);
/// 2.46 | 2.42 ulp, odd to the bit. e / (e + 2) with e = e^2|x| - 1 free of cancellation.
ir::UOp expand_tanh(ir::UOp x);

/// 0.94 | 0.79 ulp; log(+-0) = -inf, NaN below. A polynomial of degree 10 on [2/3, 4/3] | the series of fdlibm's
/// e_log.c.
ir::UOp expand_log(ir::UOp x);
/// 1.42 | 0.66 ulp, exact for powers of two; otherwise as log, with log2(e) in two parts.
ir::UOp expand_log2(ir::UOp x);

/// 1.44 | 1.44 ulp, exact for the smallest x; log1p(-1) = -inf, NaN below. log(w) of the rounded w = 1 + x, and what w
/// lacks divided by w.
ir::UOp expand_log1p(ir::UOp x);

/// 1.55 | 0.72 ulp over the whole range, 1e30 no less than 1; odd to the bit; NaN at infinity. Reduced exactly enough
/// at every float: float32 in float64 by 1/(2 pi) in chunks, because only there a product of a float and a chunk is
/// exact; float64 by Cody and Waite below 2^30, by Payne and Hanek in integers above. Kernels as in fdlibm.
ir::UOp expand_sin(ir::UOp x);
/// 1.55 | 0.70 ulp, as sin.
ir::UOp expand_cos(ir::UOp x);
/// 0.501 | 0.89 ulp, as sin; float32 stays in float64 for its kernels and quotient, float64 has them in pairs.
ir::UOp expand_tan(ir::UOp x);

/// 1.08 | 1.28 ulp, odd to the bit. x + x p(x^2) below 0.925 | 1, and 1 - e^q(x), q for log(erfc(x)), above
/// (the form is N. Juffa's).
ir::UOp expand_erf(ir::UOp x);

/// 0.501 | 0.79 ulp, with all special values of C99 F.9.4.4. exp2(y log2 x) in float64, because the exponent needs 8
/// bits beside the 24 of the result | exp(y log x) in pairs of floats, as in SLEEF.
ir::UOp expand_pow(ir::UOp x, ir::UOp y);

/// NumPy's remainder: x - y floor(x / y) with the divisor's sign, also on a zero. Exact, but for the one addition of y
/// where x has the other sign, while |x / y| < 2^46 | 2^104; beyond, where the spacing of the floats at x exceeds y,
/// the rest counts as 0. x % inf is x, or inf where signs differ; inf % y and x % 0 are NaN.
ir::UOp expand_fmod(ir::UOp x, ir::UOp y);

}  // namespace sinter::codegen
