// The order in which tasks go through the blocks of the outer ranges.
#pragma once

#include <span>
#include <vector>

#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/ssa/block_writer.h"

namespace sinter::codegen {

/// The number of a task's block of each axis. `counts`: of the blocks of each. Without a band (TaskBand), the last axis
/// varies fastest. With one, its blocks vary fastest, then the axes behind it, then its bands.
std::vector<Id> blocks_of_task(BlockWriter& emit, Id task, std::span<const LoopAxis* const> axes,
                               std::span<const Id> counts);

}  // namespace sinter::codegen
