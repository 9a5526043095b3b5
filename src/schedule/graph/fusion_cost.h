// What things cost, in nanoseconds: the one place where the partition's prices stand. Comparisons of fused with unfused
// forms need no more than the right order of magnitude.
#pragma once

#include <cstdint>

#include "ir/graph.h"
#include "runtime/base/target.h"

namespace sinter::schedule {

/// Prices and caps, derived from the Target alone, so that equal Targets cut equal programs alike. Those that stand at
/// 0 here, and `lanes`, follow from the Target: prices_for().
struct Prices {
  double launch = 500;          ///< ns: fork, join and dispatch
  double small_kernel = 20000;  ///< ns: kernels that take less share a launch with others
  double long_sum = 500;  ///< ns on all units: a kernel with so much work and few points has its sums cut into blocks
  double memory = 50;     ///< bytes per ns
  double cached = 0;      ///< bytes per ns of what fits `cached_bytes`
  int64_t cached_bytes = 0;          ///< a tensor up to this size counts as cached
  double elementwise = 0;            ///< simple operations per ns
  double contraction = 0;            ///< flops per ns of a product of matrices
  int64_t parallel = 0;              ///< outer points below which units stand idle
  int64_t threads = 1;               ///< so many more of them, where a sum has no chains that threads could share
  int64_t lanes = 1;                 ///< floats of a vector
  double shared_contraction = 0.15;  ///< share of a product's time lost when it shares a kernel with another
  double blow_up = 6;                ///< factor on writing a value that is far larger than what it was made from:
  int64_t far_larger = 4;            ///< so many times,
  int64_t large = 1 << 20;           ///< and more bytes than these
  int64_t copies = 4;  ///< at most so many points that need one element are copies side by side, which share it

  // Rows: what a kernel computes and reads again in loops inside one outer point, from where the first of them kept it.
  int64_t row_bytes = 0;      ///< a row that costs nothing to keep
  int64_t row_bytes_far = 0;  ///< the longest one that stays in the core's own cache
  int64_t tile_rows = 6;      ///< rows of a product that are computed together
  int64_t tile = 64;          ///< elements of a row that one register tile of a product covers
  double narrow_row = 0.15;   ///< share of a product's time lost when an axis of its result becomes a loop inside
  double wide_row = 8;        ///< the same where that axis is longer than a tile, or its rows than the cache
  double plain_row = 100;     ///< the same where that is no row of a matrix: the loops are plain ones then
  int64_t partial_bytes = 0;  ///< the most that one point adds to for sums across outer ranges
  int64_t block_rows = 32;    ///< the fewest rows that are a block of a sum
  int64_t block_count = 64;   ///< blocks of a sum from which they rather become longer,
  int64_t block_most = 4096;  ///< up to so many rows

  // Caps keep the pass near linear and kernels compilable.
  int max_nodes = 400;       ///< evaluations in a kernel
  int max_buffers = 31;      ///< buffers that a kernel reads or writes, besides the error word
  int max_loops = 24;        ///< reductions in a kernel
  size_t max_instances = 4;  ///< indices at which one kernel may evaluate a node
  size_t max_inline = 8;     ///< kernels in which one node may be evaluated

  /// Time to read or write so many bytes.
  double transfer(int64_t bytes) const {
    return static_cast<double>(bytes) / (bytes <= cached_bytes ? cached : memory);
  }
};

Prices prices_for(const runtime::Target& target);

/// How many simple operations one elementwise op counts for: 1, but 4 for a division, 8 for exp.
double weight_of(ir::Op op);

/// Bytes of a value, at the bounds of its variables.
inline int64_t bytes_of(ir::UOp n) { return n->shape.bound() * static_cast<int64_t>(size_of(n->dtype)); }

}  // namespace sinter::schedule
