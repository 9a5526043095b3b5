// Which factors of sums are finite numbers only. To multiply by the 0 of a border is harmless unless the other factor
// is infinite or NaN. The elements of a tile times 0 are added up while it is filled, those of a tensor before the
// first task: the sum is 0 only if all are finite.
#pragma once

#include <map>
#include <set>
#include <span>

#include "codegen/emit/values.h"
#include "codegen/nest/loop_tree.h"

namespace sinter::codegen {

/// Whether it pays to look at all elements of the tensor that a factor of a sum is loaded from, with vectors of
/// `lanes`. `outer`: the outer ranges of the kernel.
bool is_looked_at(UOp factor, std::span<const UOp> outer, int lanes, FreeRanges& ranges, const runtime::Target& target);

/// The factor beside a tile that holds zeros where the common predicate of a sum of products is false, if lanes differ
/// in it; null for other statements. If that factor is finite the zeros may be multiplied: masks cost as much as half
/// of the multiplications.
UOp factor_beside_zeros(const Statement& sum, const Statements& statements, FreeRanges& ranges);

class FiniteFactors {
 public:
  FiniteFactors(const LoopSchedule& schedule, const Statements& statements, const runtime::Target& target,
                FreeRanges& ranges, BlockWriter& emit);

  /// Before the loop over tasks: looks at tensors that are the factor_beside_zeros() of a sum.
  void look_at_tensors();
  /// Before a loop; `guarded`: it may not run. Whether it fills a tile that is looked at: end() follows the loop.
  bool begin(const LoopItem& loop, bool guarded);
  void end();
  /// Looks at what a statement stores.
  void add(const Statement& store, Id value);
  /// Whether the tile or tensor that a LOAD reads is all finite; kNone: nobody looked.
  Id finite(UOp load) const;

 private:
  struct Fill {
    int64_t slot = -1;
    Id sum = kNone;  ///< accumulator of elements times 0, of a vector
  };
  bool has_whole_vectors(const Statement& fill) const;
  void look_at(UOp param, int lanes);
  /// Adds value * 0 to an accumulator.
  void add_to(Id sum, Id value);
  /// Whether the lanes of a sum of elements * 0 are 0.
  Id is_zero(Id sum);

  const LoopSchedule& schedule_;
  const Statements& statements_;
  const runtime::Target& target_;
  FreeRanges& ranges_;
  BlockWriter& emit_;
  std::set<int64_t> wanted_;  ///< slots of factors that meet a border
  std::map<int64_t, Id> finite_;
  Fill open_;
};

}  // namespace sinter::codegen
