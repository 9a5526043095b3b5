// What the comment above a generated loop says.
#pragma once

#include <string>

#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// "outer range 3 of 28, blocks of 14": the range, its size if it has one or its variable, and `how` it is gone
/// through, unless that is "".
std::string loop_note(const LoopAxis& axis, const LoopLevel& level, const std::string& how);

/// How one step of a loop covers several values: "16 lanes, 4 copies". "" if it covers one.
std::string step_text(const LoopLevel& level);

}  // namespace sinter::codegen
