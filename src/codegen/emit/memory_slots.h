// The memory that a kernel's instructions name: its Params, then its tiles.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/nest/tile.h"
#include "codegen/ssa/instructions.h"

namespace sinter::codegen {

/// Adds a slot to `code` for each Param and each tile of the kernel. Tiles that fit into `fast_bytes` together are on
/// the stack, or in shared memory of a GPU block. The others are in scratch memory, whose size is set too.
void assign_slots(const Kernel& kernel, const std::vector<Tile>& tiles, int64_t fast_bytes, Instructions& code);

}  // namespace sinter::codegen
