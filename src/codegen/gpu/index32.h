// Narrows index arithmetic to 32 bits. A GPU's integer units are 32 bits wide; 64-bit arithmetic takes several
// instructions.
#pragma once

#include <cstdint>
#include <span>

#include "codegen/ssa/instructions.h"
#include "sinter/shape.h"

namespace sinter::codegen {

/// In:  scalar instructions with 64-bit Index and U64. `max_blocks`: upper bound on the blocks of a launch. `vars`: the
/// variables that Var instructions name.
/// Out: the same values. An integer that provably fits 32 bits and is computed from integers that do is narrowed: Index
/// to Type::narrow, a quotient or remainder of U64 to U32. Where both widths are used, a cast follows the definition.
/// Memory and accumulators keep 64 bits.
Instructions narrow_indices(const Instructions& code, int64_t max_blocks, std::span<const Var> vars);

}  // namespace sinter::codegen
