// How the points of kernels that run together are given to threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/exec/step_cost.h"

namespace sinter::runtime::cpu {

/// Points of a kernel, which one thread computes.
struct Piece {
  size_t kernel;  ///< its place among the loads
  int64_t begin, end;
  double time;    ///< expected, in pieces that are worth a thread
  int party = 0;  ///< the thread that begins with them
};

/// All points of some kernels, for at least one party: each has as much of a kernel as the others, side by side, as
/// Pool::run() cuts one alone, and the same part in each launch, so that what it wrote is in its own cache when it
/// comes again. Kernels with less than a piece for each go where there is least. Party by party, the longest pieces
/// first, so that the short ones even out when all end.
std::vector<Piece> pieces_of(std::span<const StepLoad* const> loads, int parties);

}  // namespace sinter::runtime::cpu
