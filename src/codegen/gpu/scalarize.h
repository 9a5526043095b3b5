// Scalarization for GPU threads: vectors remain in memory accesses only.
#pragma once

#include "codegen/ssa/instructions.h"

namespace sinter::codegen {

/// In: instructions with vectors of any width.
/// Out: the same values lane by lane. Vectors are made only by a Load, whose uses are Parts of one lane, and by a Pack
/// for a Store or for the other value of a predicated Load. An access has at most 16 bytes and is aligned to its size,
/// given aligned buffers. Accesses with a count go element by element.
Instructions scalarize(const Instructions& code);

}  // namespace sinter::codegen
