// Rewrites ops that C and the target lack.
#pragma once

#include "codegen/kernel/ir.h"

namespace sinter::codegen {

/// In:  a kernel without kDecomposed ops and without arithmetic on 16-bit floats.
/// Out: the same values. Arithmetic on bool becomes logic. A div or mod of non-negative indices by positive ones
/// becomes unsigned, where C's truncation equals the floor of the semantics, and 32-bit if the operands fit, which is
/// faster. The rest of SEMANTICS F5 (division by zero, wrapping, shifts, saturating casts) is handled in render/.
UOp legalize(ir::Graph& g, UOp sink);

/// Throws InternalError unless `sink` is in the form above. Also throws for 8-bit floats, which no target has.
void verify_legal(UOp sink);

}  // namespace sinter::codegen
