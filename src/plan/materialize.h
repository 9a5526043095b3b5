// Decides what a plan stores and what it writes in place. Reads positions only, never node identities, so that equal
// keys give equal decisions (SEMANTICS N4).
#pragma once

#include <cstdint>
#include <vector>

#include "plan/canonicalize.h"

namespace sinter::plan {

struct Materialization {
  std::vector<uint8_t> stored;    ///< per position: stored in memory of its own by the plan (V4)
  std::vector<uint8_t> needed;    ///< per position: stored, or read by something needed
  std::vector<int32_t> in_place;  ///< per position: the slot a store may overwrite, or -1; each slot at most once (V3)
  friend bool operator==(const Materialization&, const Materialization&) = default;
};

/// One pass in each direction: linear in positions and edges.
Materialization materialize(const CanonicalProgram& plan);

/// Whether a lean plan would store less than `d`, the decision for `plan`.
bool has_spare_stores(CanonicalProgram plan, const Materialization& d);

}  // namespace sinter::plan
