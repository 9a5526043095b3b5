// Versions become values: what an After means is said in ordinary ops, except where only a box of the home is to be
// written.
#pragma once

#include <vector>

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// Per output: is it a version of its home's own value in a box, so that storing the box is enough?
std::vector<bool> box_candidates(const PlanGraph& plan);

/// AFTER(v) is v; AFTER(old, v, box) is where(inside the box, v, old). Those outputs for which `boxed` is true keep
/// their After, with the home's Param as its first source; content that is a mere view of the home is copied first, or
/// the store would read what it overwrites.
void lower_versions(PlanGraph& plan, const std::vector<bool>& boxed);

}  // namespace sinter::schedule
