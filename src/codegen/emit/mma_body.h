// Sums in steps of a tensor core: by the threads of a warp together, or by each thread for itself.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "codegen/emit/reduction_body.h"
#include "codegen/emit/unrolled_copies.h"
#include "codegen/emit/values.h"

namespace sinter::codegen {

class MmaBody {
 public:
  /// `code`: whose slots tell which tiles lie in shared memory.
  MmaBody(const Statements& statements, Values& values, BlockWriter& emit, const Instructions& code,
          Accumulators& accumulators, UnrolledCopies& copies)
      : statements_(statements),
        values_(values),
        emit_(emit),
        code_(code),
        accumulators_(accumulators),
        unrolled_copies_(copies) {}

  /// Adds the steps of one iteration of a REDUCE's loops, in all unrolled copies.
  void add(int statement);

 private:
  /// One factor of a tile.
  struct Factor {
    UOp value;
    UOp range;  ///< rows or columns
    bool rows = false;
  };
  const Statement& at(int i) const { return statements_.list[i]; }
  void add_step(int statement);
  void add_tile(int statement);
  Id step_factor(UOp value, const LoopLevel& depth);
  Id masked(Id value, UOp range, int lanes);
  Id fragment(const Factor& factor, UOp depth);
  Id element_fragment(const Factor& factor, UOp depth);
  Id loaded_fragment(const Factor& factor, UOp depth, bool transposed);
  bool is_loadable(const Factor& factor, UOp depth, bool& transposed);
  Id tf32(Id value);
  Id word(Id lanes);

  const Statements& statements_;
  Values& values_;
  BlockWriter& emit_;
  const Instructions& code_;
  Accumulators& accumulators_;
  UnrolledCopies& unrolled_copies_;
  std::map<std::pair<ir::Node*, uint64_t>, Id> fragments_;  ///< of the current iteration, by unrolled copy
};

}  // namespace sinter::codegen
