// A STORE at the current unrolled copy.
#pragma once

#include "codegen/emit/values.h"

namespace sinter::codegen {

/// Emits the store of a statement: alone, or as part of its TransposeGroup, whose first copy stores for all. `threads`:
/// of a block. `cold`: runs so rarely that code size matters more than time. Returns the stored value.
Id emit_store(Values& values, BlockWriter& emit, const Statement& statement, const Statements& statements, int threads,
              bool cold);

}  // namespace sinter::codegen
