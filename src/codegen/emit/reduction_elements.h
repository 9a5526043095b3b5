// Which elements of a sum are added: those of a product that its predicate closes change nothing, and are skipped where
// that is known for whole vectors.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "codegen/emit/loop_bounds.h"
#include "codegen/emit/reduction_body.h"
#include "codegen/emit/unrolled_copies.h"
#include "codegen/emit/values.h"
#include "codegen/nest/loop_tree.h"

namespace sinter::codegen {

class ReductionElements {
 public:
  /// `unswitch`: whether a sum that adds all its elements may have a text for those whose loads are closed.
  ReductionElements(const Statements& statements, Values& values, BlockWriter& emit, Accumulators& accumulators,
                    UnrolledCopies& copies, FreeRanges& ranges, bool unswitch)
      : statements_(statements),
        values_(values),
        emit_(emit),
        accumulators_(accumulators),
        copies_(copies),
        ranges_(ranges),
        unswitch_(unswitch) {}

  /// Adds the present one to a REDUCE, in each copy.
  void add(int statement);

  /// What the predicate of a sum leaves of a loop in which nothing but that sum stands; all of it where `sum` is -1.
  LoopBounds bounds_of(const LoopItem& loop, int sum);
  /// `loop` through what that is of the values from `begin` below `end`.
  void emit_bounded(int sum, const LoopBounds& bounds, Id begin, Id end,
                    const std::function<void(Id from, Id to)>& loop);

  /// A loop goes through a range, or a block of it, one by one; it stands at `at`.
  void enter_loop(ir::UOp range, Id at, Id end) { open_loops_.push_back({range, at, end}); }
  void leave_loop() { open_loops_.pop_back(); }

 private:
  using Conditions = std::vector<ir::UOp>;
  /// What each copy knows of conditions that differ between copies: where it skips elements before those that it adds,
  /// and where behind.
  struct PredicateOutcomes {
    Conditions conditions;
    std::set<uint64_t> before, behind;  ///< Values::copy_key() of the sum
  };
  const Statement& at(int i) const { return statements_.list[static_cast<size_t>(i)]; }
  bool differs(ir::UOp n) const { return values_.varies(n) || copies_.differ(n); }
  std::optional<PredicateOutcomes> predicate_outcomes(ir::UOp sum, Conditions conditions);
  std::optional<PredicateOutcomes> open_predicate(int statement);
  bool add_unswitched(int statement);
  Id last_iteration(ir::UOp sum, const Conditions& predicate);
  void add_zeros(int statement, Id condition, const std::set<uint64_t>* copies);
  void add_skipped(int statement, Id condition);

  struct OpenLoop {
    ir::UOp range;
    Id at, end;
  };
  const Statements& statements_;
  Values& values_;
  BlockWriter& emit_;
  Accumulators& accumulators_;
  UnrolledCopies& copies_;
  FreeRanges& ranges_;
  const bool unswitch_;
  std::vector<OpenLoop> open_loops_;  ///< the open ones
  Conditions enforced_;               ///< what the ends of the open loops see to
};

}  // namespace sinter::codegen
