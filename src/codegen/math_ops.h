// One expansion per op. Sources are float32 or float64 of one type and shape (Threefry: uint64); the result has that
// type and shape and holds no kExpanded op. Special values are C99's (FMod: NumPy's); denormals are neither flushed
// on the way in nor on the way out. Errors in ulp are maxima met in exhaustive (float32, one argument) and random sweeps.
// Coefficients without another source are minimax fits of our own (Remez and Lawson, rounded one by one).
#pragma once

#include "uop/graph.h"

namespace sinter::codegen {

/// e^x for |x| small enough that the result is a normal number; for the other expansions.
ir::UOp exp_normal(ir::UOp x);

ir::UOp expand_exp(ir::UOp x);
ir::UOp expand_exp2(ir::UOp x);
ir::UOp expand_tanh(ir::UOp x);

ir::UOp expand_log(ir::UOp x);
ir::UOp expand_log2(ir::UOp x);

ir::UOp expand_sin(ir::UOp x);
ir::UOp expand_cos(ir::UOp x);
ir::UOp expand_tan(ir::UOp x);

ir::UOp expand_erf(ir::UOp x);
ir::UOp expand_pow(ir::UOp x, ir::UOp y);
ir::UOp expand_fmod(ir::UOp x, ir::UOp y);
ir::UOp expand_threefry(ir::UOp counter, ir::UOp key);

}  // namespace sinter::codegen
