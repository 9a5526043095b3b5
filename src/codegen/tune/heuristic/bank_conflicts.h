// What accesses to a tile cost a GPU's shared memory, which a heuristic asks before anything runs.
#pragma once

#include <cstdint>

#include "codegen/loopschedule/opt.h"
#include "sinter/dtype.h"

namespace sinter::codegen {

/// How threads go over one dim of a tile: thread t begins at lanes * (t / stride % threads).
struct ThreadWalk {
  int lanes = 1, threads = 1, stride = 1;
};

/// Passes over the banks that a warp needs to touch, once per thread, what the walks along the last two dims of a
/// staged tile say: whole vectors where lanes lie along the last one, `columns` long, else lane by lane. The simulated
/// device counts the same.
int64_t bank_passes(const TileCopy& layout, int64_t columns, DType dtype, const ThreadWalk& row,
                    const ThreadWalk& column);

}  // namespace sinter::codegen
