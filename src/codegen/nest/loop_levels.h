// The loops of one range around a statement: how wide the innermost is.
#pragma once

#include <vector>

#include "codegen/kernel/ranges.h"
#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// Values of a range in one iteration of its innermost loop.
struct LoopWidth {
  int lanes = 1, unroll = 1, threads = 1;
  WarpDigits warp = {};
  int64_t distance = 1;
  int64_t step() const { return int64_t{1} * lanes * warp.threads * warp.copies * unroll * distance * threads; }
};

class LoopLevels {
 public:
  LoopLevels(const LoopSchedule& schedule, FreeRanges& ranges) : schedule_(schedule), ranges_(ranges) {}

  /// Appends the loops of a range, outermost first; none if each task has one value.
  void add(std::vector<LoopLevel>& loops, UOp range, const LoopWidth& width) const;
  /// Whether a loop of this width is straight (LoopLevel).
  bool is_straight(const LoopAxis& axis, int64_t width) const;
  /// Whether a REDUCE below `node` that varies along `range` has several chains, or steps that each thread computes for
  /// itself. The loop over `range` then has no lanes.
  bool lanes_inside(UOp node, UOp range);
  /// A REDUCE's own loops. `vector`: an outer range has lanes. Throws IllegalOpt.
  std::vector<LoopLevel> of_reduce(UOp reduce, bool vector);

 private:
  bool has_plain_steps(UOp reduce);
  LoopWidth width_of(UOp reduce, const LoopAxis& axis, bool vector);
  LoopWidth threaded_width(UOp reduce, const LoopAxis& axis, bool vector) const;

  const LoopSchedule& schedule_;
  FreeRanges& ranges_;
};

}  // namespace sinter::codegen
