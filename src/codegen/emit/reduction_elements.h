// Which elements of a sum are added: those of a product that its gate closes change nothing, and are skipped where that
// is known for whole vectors.
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

class Elements {
 public:
  /// `cases`: whether a sum that adds all its elements may have a text for those whose loads are closed.
  Elements(const Statements& statements, Values& values, Emitter& emit, Accumulators& accumulators,
           RegisterCopies& copies, Ranges& ranges, bool cases)
      : statements_(statements),
        values_(values),
        emit_(emit),
        accumulators_(accumulators),
        copies_(copies),
        ranges_(ranges),
        cases_(cases) {}

  /// Adds the present one to a REDUCE, in each copy.
  void add(int statement);

  /// What the gate of a sum leaves of a loop in which nothing but that sum stands; all of it where `sum` is -1.
  Clip clip_of(const Item& loop, int sum);
  /// `turns` through what that is of the values from `begin` below `end`.
  void clipped(int sum, const Clip& cut, Id begin, Id end, const std::function<void(Id from, Id to)>& turns);

  /// A loop goes through a range, or a block of it, one by one; it stands at `at`.
  void begin_turn(ir::UOp range, Id at, Id end) { turning_.push_back({range, at, end}); }
  void end_turn() { turning_.pop_back(); }

 private:
  using Conditions = std::vector<ir::UOp>;
  /// What each copy knows of conditions that differ between copies: where it skips elements before those that it adds,
  /// and where behind.
  struct Known {
    Conditions conditions;
    std::set<uint64_t> before, behind;  ///< Values::copies() of the sum
  };
  const Statement& at(int i) const { return statements_.list[static_cast<size_t>(i)]; }
  bool differs(ir::UOp n) const { return values_.varies(n) || copies_.differ(n); }
  std::optional<Known> known(ir::UOp sum, Conditions conditions);
  std::optional<Known> open_gate(int statement);
  bool add_in_cases(int statement);
  Id last_turn(ir::UOp sum, const Conditions& gate);
  void add_zeros(int statement, Id condition, const std::set<uint64_t>* copies);
  void add_skipped(int statement, Id condition);

  struct Turning {
    ir::UOp range;
    Id at, end;
  };
  const Statements& statements_;
  Values& values_;
  Emitter& emit_;
  Accumulators& accumulators_;
  RegisterCopies& copies_;
  Ranges& ranges_;
  const bool cases_;
  std::vector<Turning> turning_;  ///< the open ones
  Conditions clipped_;            ///< what the ends of the open loops see to
};

}  // namespace sinter::codegen
