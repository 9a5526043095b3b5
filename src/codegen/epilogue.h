// Stores of carried sums, in loops of their own.
#pragma once

#include "codegen/statement.h"

namespace sinter::codegen {

/// Copies are there for sums, which share their operands. A STORE whose sums are all carried reads them from memory in loops behind
/// theirs: there copies make nothing but long code, and go, unless memory lies side by side along them; of vectors two stay then. `before`:
/// the statements that it depends on.
void drop_copies(Statement& store, const std::vector<Statement>& before);

}  // namespace sinter::codegen
