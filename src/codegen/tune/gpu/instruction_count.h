// Instructions of a GPU thread, as predictions count them.
#pragma once

#include "codegen/kernel/ranges.h"
#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// Of an op.
double instructions_of(ir::Op op, DType dtype);
/// Of one step of a REDUCE or SCAN: an element joins the accumulators.
double step_instructions(ir::UOp node);
/// The part of a step that results with shared accumulators (codegen/nest/shared_accumulator.h) make only once.
double shared_step_instructions(const Statement& reduce, FreeRanges& ranges);

}  // namespace sinter::codegen
