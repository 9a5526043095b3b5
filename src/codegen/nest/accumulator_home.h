// Where the accumulators of carried sums may lie between the turns of the loop that carries them, as far as the graph
// says it.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "codegen/kernel/ranges.h"

namespace sinter::codegen {

/// Who touches memory, and who reads which REDUCE.
class AccumulatorHomes {
 public:
  explicit AccumulatorHomes(ir::UOp sink);

  bool loads(int64_t slot) const { return loads_.contains(slot); }
  bool stores(int64_t slot) const { return stores_.contains(slot); }

  /// The STORE in whose place the accumulators of `reduce` may rest, which `user` reads: nothing else touches it, each
  /// has its element, and who reads the sums later finds them there. Null if there is none.
  ir::UOp home_for(ir::UOp reduce, ir::UOp user, FreeRanges& ranges) const;

 private:
  std::map<int64_t, int> loads_, stores_;                 ///< by slot
  std::unordered_map<ir::Node*, int> readers_;            ///< of a REDUCE: how many others and STOREs
  std::unordered_map<ir::Node*, ir::UOp> direct_stores_;  ///< a STORE of what it comes to
};

}  // namespace sinter::codegen
