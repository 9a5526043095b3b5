// Where a plan's scratch lies: one piece of memory, in which buffers that are never alive together share bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/exec/plan.h"

namespace sinter::runtime {

struct ArenaLayout {
  std::vector<int64_t> offsets;  ///< per buffer of the plan, 64-byte aligned; -1 for what is not Scratch
  int64_t bytes = 0;
  uint64_t steps = 0;  ///< that laying out took
};

/// What a run of a plan allocates at the bounds of its symbolic sizes, in bytes.
struct PlanMemory {
  int64_t outputs = 0;     ///< new memory that outlives it
  int64_t invariants = 0;  ///< from run to run
  int64_t scratch = 0;     ///< of all values between kernels,
  int64_t arena = 0;       ///< in as much memory
  int64_t peak() const { return outputs + invariants + arena; }
};
PlanMemory memory_of(const Plan& plan);

/// Largest first, each at the lowest offset that is free over its life. Planned for the bounds of symbolic sizes. Under
/// AddressSanitizer a red zone follows each buffer.
ArenaLayout lay_out(const Plan& plan);

}  // namespace sinter::runtime
