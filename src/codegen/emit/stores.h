// What a STORE does at the present register copy.
#pragma once

#include "codegen/emit/values.h"

namespace sinter::codegen {

/// Emits what a statement stores: by itself, or as a part of its Run, of which the first copy stores all. `threads`: of
/// a block. `seldom`: whether it runs so seldom that its text counts more than its time. Returns the value.
Id put(Values& values, Emitter& emit, const Statement& statement, const Statements& statements, int threads,
       bool seldom);

}  // namespace sinter::codegen
