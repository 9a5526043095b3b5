// Where the elements of a thread begin in a loop that threads of a block share, and how far its copies are apart.
#pragma once

#include "codegen/emit/values.h"
#include "codegen/nest/statement.h"
#include "codegen/ssa/block_writer.h"

namespace sinter::codegen {

/// Elements from a loop's base to those of this thread.
Id thread_offset(BlockWriter& emit, const LoopLevel& level, int lanes);
/// The same to those of its warp's tile, or of the thread if there are no tiles.
Id warp_offset(BlockWriter& emit, const LoopLevel& level, int lanes);
CopyDistance copy_distance(const LoopLevel& level, int lanes);

}  // namespace sinter::codegen
