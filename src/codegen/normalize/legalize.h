// What C and the target do not have, written in what they have.
#pragma once

#include "ir/graph.h"

namespace sinter::codegen {

/// In:  a kernel without expanded ops and without arithmetic on 16-bit floats.
/// Out: the same values. Arithmetic on bool is logic; a div or mod of indices that are known not to be negative is
/// unsigned, of 32 bits
///      where they fit (C truncates, the algebra floors: the two agree there, and the short division is several times
///      faster).
/// What remains of SEMANTICS F5 (division by zero, wrapping, shifts, saturating casts) is spelled by render/.
ir::UOp legalize(ir::Graph& g, ir::UOp sink);

/// Throws InternalError unless `sink` is in the form above, also for 8-bit floats, which no target has.
void verify_legal(ir::UOp sink);

}  // namespace sinter::codegen
