// Which tiles hold finite numbers only. To multiply by the 0 of a border is harmless unless the other factor is
// infinite or NaN. While a tile is filled, its elements times 0 are added up: the sum is 0 only if all are finite.
#pragma once

#include <map>
#include <set>

#include "codegen/emit/values.h"
#include "codegen/nest/loop_tree.h"

namespace sinter::codegen {

class FiniteTiles {
 public:
  FiniteTiles(const LoopSchedule& schedule, const Statements& statements, BlockWriter& emit);

  /// Before a loop; `guarded`: it may not run. Whether it fills a tile that is looked at: end() follows the loop.
  bool begin(const LoopItem& loop, bool guarded);
  void end();
  /// Looks at what a statement stores.
  void add(const Statement& store, Id value);
  /// Whether the tile that a LOAD reads is all finite; kNone: nobody looked.
  Id finite(UOp load) const;

 private:
  struct Fill {
    int64_t slot = -1;
    Id sum = kNone;  ///< accumulator of elements times 0, of a vector
  };
  bool has_whole_vectors(const Statement& fill) const;

  const LoopSchedule& schedule_;
  const Statements& statements_;
  BlockWriter& emit_;
  std::set<int64_t> wanted_;  ///< slots of factors that meet a border
  std::map<int64_t, Id> finite_;
  Fill open_;
};

}  // namespace sinter::codegen
