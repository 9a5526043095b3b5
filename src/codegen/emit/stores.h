// What a STORE does at the present register copy.
#pragma once

#include "codegen/emit/values.h"

namespace sinter::codegen {

/// Emits what a statement stores: by itself, or as a part of its TransposeGroup, of which the first copy stores all.
/// `threads`: of a block. `cold`: whether it runs so seldom that its text counts more than its time. Returns the value.
Id emit_store(Values& values, BlockWriter& emit, const Statement& statement, const Statements& statements, int threads,
              bool cold);

}  // namespace sinter::codegen
