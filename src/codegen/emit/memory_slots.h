// The memory that a kernel's instructions name: its Params, then its tiles.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/nest/tile.h"
#include "codegen/ssa/instructions.h"

namespace sinter::codegen {

/// Gives `code` a slot for each Param of the kernel, and one for each tile: those that fit into `fast_bytes` bytes
/// together lie on the stack, or in a block's shared memory, the others in scratch memory, whose size this sets too.
void assign_slots(const Kernel& kernel, const std::vector<Tile>& tiles, int64_t fast_bytes, Instructions& code);

}  // namespace sinter::codegen
