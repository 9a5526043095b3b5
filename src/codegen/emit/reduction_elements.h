// Which elements a reduction adds. Elements of a sum of products whose predicate is false change nothing. They are
// skipped if the predicate is the same for whole vectors, and for all copies of a step or known in each. Otherwise they
// are added as zeros, or multiplied where a tile holds zeros and the other factor is finite.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "codegen/emit/finite_factors.h"
#include "codegen/emit/reduction_body.h"
#include "codegen/emit/unrolled_copies.h"
#include "codegen/emit/values.h"
#include "codegen/nest/loop_bounds.h"
#include "codegen/nest/loop_tree.h"

namespace sinter::codegen {

class ReductionElements {
 public:
  /// `unswitch`: whether a step of a sum may have two versions, by a condition that its loads or lanes share.
  ReductionElements(const Statements& statements, Values& values, BlockWriter& emit, Accumulators& accumulators,
                    UnrolledCopies& copies, FreeRanges& ranges, const FiniteFactors& finite_factors, bool unswitch)
      : statements_(statements),
        values_(values),
        emit_(emit),
        accumulators_(accumulators),
        unrolled_copies_(copies),
        ranges_(ranges),
        finite_factors_(finite_factors),
        unswitch_(unswitch) {}

  /// Adds the current element to a REDUCE, in each unrolled copy.
  void add(int statement);

  /// Emits the loop of a sum, whose accumulators are new, in a form that is faster where the factor beside a border is
  /// finite: it leaves out closed steps that would multiply zeros, or multiplies zeros that the sum leaves out. Both
  /// forms differ from the sum as written in additions of +0 and -0 only, which change nothing but a sum of -0: if one
  /// is left, the loop runs again as written. False: nothing is emitted, since there is no such border, or nobody knows
  /// the factor.
  bool add_beside_finite(int statement, const std::function<void()>& loop);

  /// The bounds that the predicate of `sum` gives a loop that contains nothing but that sum. The whole loop if `sum` is
  /// -1.
  LoopBounds bounds_of(const LoopItem& loop, int sum);
  /// Emits `loop` over the part of [begin, end) within `bounds`, and the +0 of the skipped elements.
  void emit_within_bounds(int sum, const LoopBounds& bounds, Id begin, Id end,
                          const std::function<void(Id from, Id to)>& loop);

  /// Enters a loop with step 1 over a range or a block of it. `at`: its induction variable.
  void enter_loop(UOp range, Id at, Id end) { open_loops_.push_back({range, at, end}); }
  void leave_loop() { open_loops_.pop_back(); }

 private:
  using Conditions = std::vector<UOp>;
  /// What becomes of elements that a border closes: what the sum says, or nothing, or they are multiplied as others.
  enum class Closed : uint8_t { AsWritten, Skipped, Multiplied };
  /// What is left of a predicate in the block that it opened.
  struct OpenPredicate {
    Conditions known = {};           ///< these differ between copies, and have a known outcome in each
    Conditions steps = {};           ///< these differ between copies of the sum's own ranges, and no others
    std::set<uint64_t> before = {};  ///< copies that skip elements before those that they add
    std::set<uint64_t> behind = {};  ///< copies that skip elements after those that they add
    bool masked = false;             ///< outcomes are not known: elements are added as zeros
  };
  const Statement& at(int i) const { return statements_.list[i]; }
  bool differs(UOp n) const { return values_.varies(n) || unrolled_copies_.differ(n); }
  std::optional<OpenPredicate> outcomes_in_copies(UOp sum, const Conditions& conditions);
  std::optional<OpenPredicate> open_predicate(int statement);
  bool open_step(int statement, const Conditions& conditions);
  struct FiniteForm {
    Id finite = kNone;  ///< whether the factor is; kNone: unknown
    Closed closed = Closed::AsWritten;
  };
  FiniteForm finite_form(int statement);
  Id has_finite_border(int statement);
  void add_versions(Id open, const std::function<void()>& if_open, const std::function<void()>& if_closed);
  bool add_unswitched(int statement);
  void add_masked(int statement);
  Id last_iteration(UOp sum, const Conditions& predicate);
  void add_zeros(int statement, Id condition, const std::set<uint64_t>* copies);
  void add_skipped_zeros(int statement, Id condition);

  struct OpenLoop {
    UOp range;
    Id at, end;
  };
  const Statements& statements_;
  Values& values_;
  BlockWriter& emit_;
  Accumulators& accumulators_;
  UnrolledCopies& unrolled_copies_;
  FreeRanges& ranges_;
  const FiniteFactors& finite_factors_;
  const bool unswitch_;
  Closed closed_ = Closed::AsWritten;
  std::vector<OpenLoop> open_loops_;
  Conditions enforced_;  ///< guaranteed by the bounds of the open loops
};

}  // namespace sinter::codegen
