// The cost model of the partition, in nanoseconds. It only compares fused with unfused forms, so a factor of three is
// near enough: tests/acceptance/prices_test.cpp holds it to that.
#pragma once

#include <cstdint>

#include "runtime/base/target.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// Prices and caps. They follow from the Target alone, so that equal Targets partition equal programs alike.
/// prices_for() sets `lanes` and the members that are 0 here.
struct Prices {
  double launch = 750;               ///< ns: fork, join and dispatch
  double small_kernel = 30000;       ///< ns: kernels below this share a launch
  double long_sum = 750;             ///< ns on all units: with few tasks, sums in longer kernels are cut into blocks
  double memory = 33.3;              ///< bytes per ns
  double cached = 0;                 ///< bytes per ns for tensors up to `cached_bytes`
  int64_t cached_bytes = 0;          ///< a tensor up to this size counts as cached
  double elementwise = 0;            ///< simple operations per ns
  double contraction = 0;            ///< flops per ns of a matrix product
  double tensor = 0;                 ///< flops per ns of a product on tensor cores
  int64_t parallel = 0;              ///< tasks below which units are idle
  int64_t threads_per_block = 1;     ///< threads of a block: factor on `parallel` for sums without lanes
  int64_t lanes = 1;                 ///< floats of a vector
  double shared_contraction = 0.15;  ///< share of a product's time lost when it shares a kernel with another
  double blow_up = 6;                ///< cost factor for writing a value that is much larger than its sources:
  int64_t far_larger = 4;            ///< by this factor,
  int64_t large = 1 << 20;           ///< and above this many bytes
  int64_t max_unrolled_copies = 4;  ///< up to this many tasks that need one element become unrolled copies and share it

  // Rows: what a kernel materializes inside one task, so that later loops of the task reread it.
  int64_t row_bytes = 0;      ///< the longest row that is free to materialize
  int64_t row_bytes_far = 0;  ///< the longest row that stays in the core's private cache
  int64_t tile_rows = 6;      ///< rows of a product computed together
  int64_t tile = 64;          ///< elements of a row that one register tile of a product covers
  int64_t few_results = 0;    ///< results of a long product up to which threads share blocks of its sum instead
  double narrow_row = 0.15;   ///< share of a product's time lost when an axis of its result becomes an inner loop
  double wide_row = 8;        ///< the same, for an axis longer than a tile or rows larger than the cache
  double plain_row = 100;     ///< the same, for loops that are no matrix row and so cannot be tiled
  double short_rows = 4;  ///< cost factor of sums that lie in rows shorter than a vector: each lane divides by the row
  double across_row = 8;  ///< cost factor beside a product for a row whose neighbors in memory are of other tasks
  int64_t partial_bytes = 0;  ///< most bytes of partial sums per task, for sums across outer ranges
  int64_t block_rows = 32;    ///< fewest rows in a block of a sum
  int64_t block_count = 64;   ///< blocks of a sum above which blocks get longer instead,
  int64_t block_most = 4096;  ///< up to this many rows

  // Caps keep the pass near linear and kernels compilable.
  int max_nodes = 400;       ///< evaluations in a kernel
  int max_buffers = 31;      ///< buffers that a kernel reads or writes, without the error word
  int max_loops = 24;        ///< reductions in a kernel
  size_t max_instances = 4;  ///< indices at which one kernel may evaluate a node
  size_t max_inline = 8;     ///< kernels in which one node may be evaluated

  /// Time to read or write this many bytes.
  double transfer(int64_t bytes) const {
    return static_cast<double>(bytes) / (bytes <= cached_bytes ? cached : memory);
  }
};

Prices prices_for(const runtime::Target& target);

/// Cost of an elementwise op in simple operations: 1 for most, 4 for a division, 8 for exp.
double weight_of(Op op);

/// Bytes of a value. Symbolic sizes count with their bounds.
inline int64_t bytes_of(UOp n) { return n->shape.bound() * static_cast<int64_t>(size_of(n->dtype)); }

}  // namespace sinter::schedule
