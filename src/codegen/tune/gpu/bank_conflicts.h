// Bank conflicts of a tile in a GPU's shared memory, predicted before anything runs.
#pragma once

#include <cstdint>
#include <span>

#include "codegen/loopschedule/mma_tile.h"
#include "codegen/loopschedule/opt.h"
#include "sinter/dtype.h"

namespace sinter::codegen {

/// Passes over the banks when thread t of a warp accesses `width` adjacent elements of `bytes` each from element
/// first[t] on, as one vector. Elements count from any place: a walk backwards gives negative ones.
int64_t bank_passes(std::span<const int64_t> first, int64_t width, int64_t bytes);

/// How threads walk over one dim of a tile of `extent` values.
struct ThreadWalk {
  int64_t extent = 1;
  int lanes = 1, threads = 1, stride = 1;
};
/// Where a thread begins.
inline int64_t first_of(const ThreadWalk& w, int thread) {
  return int64_t{1} * w.lanes * (thread / w.stride % w.threads);
}

/// What a warp does when each thread accesses some elements of a tile.
struct BankAccess {
  int64_t passes = 0;        ///< over the banks
  int64_t instructions = 0;  ///< one for each vector of a thread
};

/// The accesses of a warp whose threads access the elements of their walks along the dims of a tile, the last of which
/// is contiguous. Lanes along the last dim are accessed as vectors, those along another one by one; at most one dim has
/// lanes. `layout` says how rows are padded or swizzled. The simulated device counts the same passes.
BankAccess bank_access(const TileCopy& layout, DType dtype, std::span<const ThreadWalk> dims);

}  // namespace sinter::codegen
