// Instructions for a machine whose threads compute with scalars: vectors remain in memory accesses alone.
#pragma once

#include "codegen/ssa/instructions.h"

namespace sinter::codegen {

/// In: instructions with vectors of any width.
/// Out: the same values lane by lane. A vector is made only by a Load, of which Parts of one lane are taken, and by a
/// Pack that a Store takes, or a Load where its predicate is false; accesses are of at most 16 bytes and lie at a
/// multiple of their size, given that buffers begin at one. Those with a count go one by one.
Instructions scalarize(const Instructions& code);

}  // namespace sinter::codegen
