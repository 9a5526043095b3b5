// The comment above a generated loop.
#pragma once

#include <string>

#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// "outer range 3 of 28, blocks of 14": the range, its size (a number or a variable) and `how` the loop steps, unless
/// that is "".
std::string loop_note(const LoopAxis& axis, const LoopLevel& level, const std::string& how);

/// How many values one step of a loop covers: "16 lanes, unrolled by 4". "" for a single one.
std::string step_text(const LoopLevel& level);

}  // namespace sinter::codegen
