// Stores of carried sums, in loops of their own.
#pragma once

#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// Copies are there for sums, which share their operands. A STORE whose sums are all carried reads them from memory in
/// loops behind theirs, with copies of its own: none, but of two vectors where they lie side by side, and of as many
/// elements as are transposed in registers where lanes lie apart. Nor more than fit a panel of what it reads. Where
/// lanes lie apart those loops are innermost along which memory is nearest. `made`: with the statements that it depends
/// on.
void choose_epilogue(Statement& store, const Statements& made, const LoopSchedule& schedule);

}  // namespace sinter::codegen
