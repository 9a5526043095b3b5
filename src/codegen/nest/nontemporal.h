// Stores that go past the caches: worth it for what is written once and read much later.
#pragma once

#include <vector>

#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// Throws IllegalOpt unless a STORE, in these loops, writes whole vectors of 16 to 64 bytes, each at a multiple of its
/// size, given that buffers begin at one of 64 bytes. At the edge of a range it stores as others do.
void require_whole_vectors(const NonTemporal& opt, ir::UOp store, const std::vector<LoopLevel>& loops,
                           FreeRanges& ranges);

}  // namespace sinter::codegen
