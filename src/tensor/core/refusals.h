// Numbers that only the data know and that are refused: classes below 0, and weights that are no probabilities. GATHER
// finds them as indices out of range (SEMANTICS F6), and the report of a host read says what was given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/build.h"

namespace sinter::tensor {

/// The numbers of classes as int64, out of range where they are negative: no class counts from the end.
ir::UOp class_numbers(ir::UOp index, const Dim& classes);

/// What class_numbers() was given, if `n` is what it made; null if not. Texts of errors name that number.
ir::UOp given_classes(ir::UOp n);

/// c of where(x != c, numbers of classes, ..), which leaves out the number c; none if `n` is nothing like it.
std::optional<int64_t> ignored_class(ir::UOp n);

/// int64: 1 for each row of weights [.., classes] that can be drawn from, in the shape [.., 1]; 0 for others, which the
/// first host read reports. A row needs finite numbers from 0 on, of which `positive` or more are above 0.
ir::UOp accepted_weights(ir::UOp weights, int64_t positive);

/// Whether accepted_weights() made this index.
bool picks_weights(ir::UOp index);

/// What is wrong with weights for which accepted_weights() picks by this index, and what to give; empty if it is
/// another index.
std::string weights_fault(int64_t index);

}  // namespace sinter::tensor
