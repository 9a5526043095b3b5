// What a launch moves between L2 and memory.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "codegen/loopschedule/loop_schedule.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// Of one buffer, in one direction.
struct BufferTraffic {
  double l2 = 0;               ///< bytes of a block, weighted by what they take
  double block = 0;            ///< bytes of a block
  double once = 0;             ///< bytes of all blocks, each byte once
  std::vector<ir::UOp> outer;  ///< outer ranges that `block` depends on
};
/// By slot, read and written.
using MemoryTraffic = std::map<std::pair<int64_t, bool>, BufferTraffic>;

/// Bytes that come from memory more than once if `wave` of all `blocks` run at a time. L2 serves what blocks of a wave
/// share, and what earlier waves read as far as it fits.
double bytes_reread(const MemoryTraffic& traffic, const LoopSchedule& schedule, double blocks, double wave,
                    const runtime::Target& target);

}  // namespace sinter::codegen
