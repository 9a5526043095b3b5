// The second half of parametrise: what a plan stores, and what is written in place. Looks at positions only, never at
// nodes' identities: so equal keys give equal decisions (SEMANTICS N4).
#pragma once

#include <cstdint>
#include <vector>

#include "plan/canonicalize.h"

namespace sinter::schedule {

struct Liveness {
  std::vector<uint8_t> stored;  ///< per position: lies in memory of its own after the plan (V4)
  std::vector<uint8_t> needed;  ///< per position: stored, or read by something that is needed
  std::vector<int32_t>
      in_place;  ///< per position: the slot that a store may write into, or -1; each slot at most once (V3)
  friend bool operator==(const Liveness&, const Liveness&) = default;
};

/// One pass down, one up: linear in positions and edges.
Liveness decide(const Collected& plan);

/// Whether the plan, for which `d` was decided, stores less if it is lean.
bool has_spare_stores(Collected plan, const Liveness& d);

}  // namespace sinter::schedule
