// The plan key: a hash of canonical words, which say a collected plan with slots in place of buffers and positions in
// place of nodes, and without the numbers that change (SEMANTICS N1, N3, N4). Two plans of one key differ in nothing
// that a decision or a kernel may look at.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/canonicalize.h"
#include "runtime/base/hash.h"
#include "sinter/inline_vector.h"
#include "sinter/shape.h"

namespace sinter::plan {

/// A number of the program that may become a launch argument.
struct Number {
  ir::Scalar value;
  DType dtype;          ///< Index for offsets
  bool always = false;  ///< a NUM: an argument from the first day
};

/// A symbolic size at this call. One variable with two values in a plan is two entries.
struct BoundVar {
  Var var;
  int64_t value;
};

struct PlanKey {
  runtime::Hash128 hash;
  std::vector<Number> numbers;  ///< by position; in one: constant sources in order, then its own number or offsets
  InlineVector<uint32_t, 16> first_number;  ///< per position
  std::vector<BoundVar> vars;               ///< in order of first use

  /// The number of a size's variable; -1 for a fixed size.
  int var_of(const Dim& d) const;
};

/// The largest power of two, 64 at most, of which the address of a storage is a multiple: part of a plan's key.
int alignment_of(const ir::Storage& storage);

/// `salt` is a hash of what else decides the plan: the Target's key, the executor. Under the graph's mutex.
PlanKey make_plan_key(const CanonicalProgram& plan, const runtime::Hash128& salt);

}  // namespace sinter::plan
