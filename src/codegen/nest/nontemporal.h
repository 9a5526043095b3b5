// Nontemporal stores bypass the caches. They pay off for data that is written once and read much later.
#pragma once

#include <vector>

#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// Throws IllegalOpt unless a STORE, in these loops, writes whole vectors of 16 to 64 bytes that are aligned to their
/// size. Buffers are aligned to 64 bytes. The tail of a range uses ordinary stores.
void require_whole_vectors(const NonTemporal& opt, UOp store, const std::vector<LoopLevel>& loops, FreeRanges& ranges);

}  // namespace sinter::codegen
