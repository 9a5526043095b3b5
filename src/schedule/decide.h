// The second half of parametrise: what a plan stores, what is written in place, and in which order. Looks at positions
// only, never at nodes' identities: so equal keys give equal decisions (SEMANTICS N4).
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/collect.h"

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

/// One evaluation of a plan that is run position by position.
struct EvalStep {
  int32_t position;
  enum Mode : uint8_t { Scratch, Fresh, InPlace } mode;
};

/// The order of a plan without kernels: stores, and each reduction or pick once into scratch. Sources come before
/// users, readers of a storage before the store that writes it in place; where those wait for each other in a circle,
/// one store gives up its place (its entry in `in_place` becomes -1). The product's plans order kernels instead
/// (schedule/order.h).
std::vector<EvalStep> order_steps(const Collected& plan, Liveness& decision);

}  // namespace sinter::schedule
