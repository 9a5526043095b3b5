// What is known of an integer that an instruction makes: bounds, from those of its sources.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "codegen/ssa/instructions.h"
#include "sinter/shape.h"

namespace sinter::codegen {

/// lo <= value <= hi, where both are known.
struct IntegerBounds {
  int64_t lo = std::numeric_limits<int64_t>::min();
  int64_t hi = std::numeric_limits<int64_t>::max();
  bool known() const { return lo != IntegerBounds{}.lo && hi != IntegerBounds{}.hi; }
  bool within(IntegerBounds b) const { return b.lo <= lo && hi <= b.hi; }
};

IntegerBounds sum(IntegerBounds a, IntegerBounds b);

/// Of what `n` makes, of all lanes together; all numbers of its type where it may have wrapped, and for whatever is no
/// integer. `known`: by id, of its sources; `max_tasks`: the most that a launch has; `vars`: those that Var
/// instructions name, or none.
IntegerBounds bounds_of(const Inst& n, const Instructions& code, std::span<const IntegerBounds> known,
                        int64_t max_tasks, std::span<const Var> vars);

}  // namespace sinter::codegen
