// Loops without the iterations that count for no row of a block of threads (codegen/nest/live_iterations.h).
#pragma once

#include "codegen/emit/values.h"
#include "codegen/nest/live_iterations.h"

namespace sinter::codegen {

class LiveLoops {
 public:
  LiveLoops(const LoopSchedule& schedule, Values& values, BlockWriter& emit)
      : schedule_(schedule), values_(values), emit_(emit) {}

  struct Part {
    Id begin, end;
    Id left_out = kNone;  ///< whether iterations behind the end are left out; kNone: never
  };
  /// The iterations of [begin, end) that count for any of the rows that the threads compute now. All threads of a block
  /// run the same ones, so that barriers may stand inside.
  Part part_of(const LoopLevel& level, int64_t step, Id begin, Id end);
  /// Whether each of them counts for all of these rows.
  bool counts_for_all(const LoopLevel& level, int64_t step);

 private:
  /// Values of an outer range that the threads have now.
  struct Rows {
    Id base;
    int64_t count;
    bool aligned;  ///< whether the base is a multiple of the count
  };
  Rows rows_of(UOp range);
  Id extreme(UOp bound, bool largest);
  bool is_equal_for_all(UOp bound);

  const LoopSchedule& schedule_;
  Values& values_;
  BlockWriter& emit_;
};

}  // namespace sinter::codegen
