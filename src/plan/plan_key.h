// The plan key: a hash of canonical words that describe a program, with slots instead of buffers, positions instead of
// nodes, and without the numbers that change (SEMANTICS N1, N3, N4). Two plans of one key are equal in everything that
// a decision or a kernel may depend on.
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
  bool always = false;  ///< a NUM: always an argument
};

/// A symbolic size of this call. A variable with two values in a plan has two entries.
struct BoundVar {
  Var var;
  int64_t value;
};

struct PlanKey {
  runtime::Hash128 hash;
  std::vector<Number> numbers;  ///< by position: its constant sources in order, then its own number or offsets; none
                                ///< for a version with a box_of_updates(), whose offsets are those of the SHRINK
  InlineVector<uint32_t, 16> first_number;  ///< per position
  std::vector<BoundVar> vars;               ///< in order of first use

  /// The index of a size's variable; -1 for a fixed size.
  int var_of(const Dim& d) const;
};

/// The alignment of a storage's address: the largest power of two up to 64 that divides it. Part of the plan key.
int alignment_of(const ir::Storage& storage);

/// `salt` is a hash of everything else that decides the plan: the Target's key, the executor. Under the graph's mutex.
PlanKey make_plan_key(const CanonicalProgram& plan, const runtime::Hash128& salt);

}  // namespace sinter::plan
