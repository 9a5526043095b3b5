// Indices of 32 bits: a GPU's integers are 32 bits wide, and longer ones take several instructions.
#pragma once

#include <cstdint>
#include <span>

#include "codegen/ssa/instructions.h"
#include "sinter/shape.h"

namespace sinter::codegen {

/// In: scalar instructions, Index and U64 of 64 bits. `max_blocks`: the most that a launch has; `vars`: those that Var
/// instructions name. Out: the same values. What provably fits 32 bits, and is computed from numbers that do, is
/// narrow: Index as Type::narrow says, a quotient or remainder of U64 as U32. Casts stand behind the values that are
/// wanted both ways. What memory or an accumulator holds keeps its 64 bits.
Instructions narrow_indices(const Instructions& code, int64_t max_blocks, std::span<const Var> vars);

}  // namespace sinter::codegen
