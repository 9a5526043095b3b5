// The loops of a statement as one thread of a GPU block runs them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// A loop of a statement as one thread runs it.
struct ThreadLoop {
  /// Threads number t / stride % count are `distance` elements apart.
  struct ThreadDigit {
    int count = 1, stride = 1;
    int64_t distance = 1;
  };
  ir::UOp range;
  double iterations = 1;  ///< of the loop
  double copies = 1;      ///< lanes and unrolled copies in an iteration
  int lanes = 1;          ///< adjacent elements of a vector
  std::vector<ThreadDigit> digits = {};
  int64_t extent = 1;  ///< values that a block covers in all iterations
  int64_t step = 1;    ///< its values are multiples of it
  bool own = false;    ///< a REDUCE's own loop
  int threads() const {
    int all = 1;
    for (const ThreadDigit& d : digits) all *= d.count;
    return all;
  }
  /// Elements from the first thread's to those of a thread.
  int64_t offset(int thread) const {
    int64_t sum = 0;
    for (const ThreadDigit& d : digits) sum += d.distance * (thread / d.stride % d.count);
    return sum;
  }
};

/// The value of an index where ranges have these values; nullopt if it depends on more than ranges.
std::optional<int64_t> index_at(ir::UOp index, const std::function<int64_t(ir::UOp)>& value_of_range);

/// Without copies along straight loops that a statement merely stands in.
std::vector<ThreadLoop> thread_loops_of(const Statement& s, const LoopSchedule& schedule, FreeRanges& ranges);

/// The same for the factors of a product on tensor cores: other threads hold a column of a factor than hold it in the
/// result.
std::vector<ThreadLoop> factor_loops(const Statement& s, std::vector<ThreadLoop> loops);

/// The loops of a warp that names the rows of matrices (emit/mma_body.cpp), for the factor of the tiles' rows or
/// columns. `transposed`: rows of the matrices do not lie along the depth.
std::vector<ThreadLoop> matrix_loops(const Statement& s, std::vector<ThreadLoop> loops, bool rows, bool transposed);

}  // namespace sinter::codegen
