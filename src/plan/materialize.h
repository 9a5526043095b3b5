// The second half of plan lookup: what a plan stores, and what is written in place. Looks at positions only, never at
// nodes' identities: so equal keys give equal decisions (SEMANTICS N4).
#pragma once

#include <cstdint>
#include <vector>

#include "plan/canonicalize.h"

namespace sinter::plan {

struct Materialization {
  std::vector<uint8_t> stored;  ///< per position: lies in memory of its own after the plan (V4)
  std::vector<uint8_t> needed;  ///< per position: stored, or read by something that is needed
  std::vector<int32_t>
      in_place;  ///< per position: the slot that a store may write into, or -1; each slot at most once (V3)
  friend bool operator==(const Materialization&, const Materialization&) = default;
};

/// One pass down, one up: linear in positions and edges.
Materialization materialize(const CanonicalProgram& plan);

/// Whether the plan, for which `d` was decided, stores less if it is lean.
bool has_spare_stores(CanonicalProgram plan, const Materialization& d);

}  // namespace sinter::plan
