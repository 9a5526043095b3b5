// Layout of a plan's scratch memory: one allocation, in which buffers with disjoint lifetimes share bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/exec/plan.h"

namespace sinter::runtime {

struct ArenaLayout {
  std::vector<int64_t> offsets;  ///< per buffer of the plan, 64-byte aligned; -1 unless it is Scratch
  int64_t bytes = 0;
  uint64_t steps = 0;  ///< steps of the placement algorithm
};

/// Bytes that a run of a plan allocates, at the bounds of its symbolic sizes.
struct PlanMemory {
  int64_t outputs = 0;     ///< new memory that outlives the run
  int64_t invariants = 0;  ///< memory kept from run to run
  int64_t scratch = 0;     ///< sum of all values between kernels
  int64_t arena = 0;       ///< size of the arena that holds them
  int64_t peak() const { return outputs + invariants + arena; }
};
PlanMemory memory_of(const Plan& plan);

/// Largest buffer first, each at the lowest offset that is free during its lifetime. Uses the bounds of symbolic sizes.
/// Under AddressSanitizer a red zone follows each buffer.
ArenaLayout lay_out(const Plan& plan);

}  // namespace sinter::runtime
