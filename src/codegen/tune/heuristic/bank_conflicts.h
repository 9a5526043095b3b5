// Bank conflicts of a tile in a GPU's shared memory, predicted before anything runs.
#pragma once

#include <cstdint>

#include "codegen/loopschedule/opt.h"
#include "sinter/dtype.h"

namespace sinter::codegen {

/// How threads walk over one dim of a tile: thread t begins at lanes * (t / stride % threads).
struct ThreadWalk {
  int lanes = 1, threads = 1, stride = 1;
};

/// Passes over the banks that a warp needs when each thread accesses the elements of its walks along the last two dims
/// of a tile. Lanes along the last dim are accessed as vectors, others one by one. `columns`: length of the last dim.
/// The simulated device counts the same passes.
int64_t bank_passes(const TileCopy& layout, int64_t columns, DType dtype, const ThreadWalk& row,
                    const ThreadWalk& column);

}  // namespace sinter::codegen
