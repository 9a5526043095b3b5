// Where a plan's scratch lies: one piece of memory, in which buffers that are never alive together share bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/plan.h"

namespace sinter::runtime {

struct ArenaLayout {
  std::vector<int64_t> offsets;  ///< per buffer of the plan, 64-byte aligned; -1 for what is not Scratch
  int64_t bytes = 0;
};

/// Largest first, each at the lowest offset that is free over its life. Planned for the bounds of symbolic sizes. Under
/// AddressSanitizer a red zone follows each buffer.
ArenaLayout lay_out(const Plan& plan);

}  // namespace sinter::runtime
