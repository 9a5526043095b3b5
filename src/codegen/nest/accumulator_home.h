// Where accumulators of carried reductions may live between iterations of the carrying loop, as far as the graph
// decides it.
#pragma once

#include <map>
#include <unordered_map>

#include "codegen/kernel/ranges.h"

namespace sinter::codegen {

/// Loads and stores by slot, and the readers of each REDUCE.
class AccumulatorHomes {
 public:
  explicit AccumulatorHomes(UOp sink);

  bool loads(int64_t slot) const { return loads_.contains(slot); }
  bool stores(int64_t slot) const { return stores_.contains(slot); }

  /// The STORE whose element may hold the accumulators of `reduce`, which `user` reads. Nothing else touches that
  /// memory, each accumulator has its own element, and later readers find the result there. Null if there is none.
  UOp home_for(UOp reduce, UOp user, FreeRanges& ranges) const;

 private:
  std::map<int64_t, int> loads_, stores_;             ///< by slot
  std::unordered_map<ir::Node*, int> readers_;        ///< of a REDUCE: how many other reductions and STOREs
  std::unordered_map<ir::Node*, UOp> direct_stores_;  ///< a STORE of the plain result
};

}  // namespace sinter::codegen
