// Bounds of the integer that an instruction computes, from the bounds of its sources.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "codegen/ssa/instructions.h"
#include "sinter/shape.h"

namespace sinter::codegen {

/// lo <= value <= hi. The extreme values of int64 stand for unknown bounds.
struct IntegerBounds {
  int64_t lo = std::numeric_limits<int64_t>::min();
  int64_t hi = std::numeric_limits<int64_t>::max();
  bool known() const { return lo != IntegerBounds{}.lo && hi != IntegerBounds{}.hi; }
  bool within(IntegerBounds b) const { return b.lo <= lo && hi <= b.hi; }
};

IntegerBounds sum(IntegerBounds a, IntegerBounds b);

/// Bounds of the result of `n` over all lanes. The full range of its type if it may wrap or is not an integer.
/// `known`: bounds of the sources, by id. `max_tasks`: upper bound on the tasks of a launch. `vars`: the variables that
/// Var instructions name; may be empty.
IntegerBounds bounds_of(const Inst& n, const Instructions& code, std::span<const IntegerBounds> known,
                        int64_t max_tasks, std::span<const Var> vars);

}  // namespace sinter::codegen
