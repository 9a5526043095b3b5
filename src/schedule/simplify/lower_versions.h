// Versions become values: an After is written in ordinary ops, unless only a box of its home has to be stored.
#pragma once

#include <vector>

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// Per output: whether it is a version of its home's own value in a box. Then storing the box is enough.
std::vector<bool> box_candidates(const PlanGraph& plan);

/// AFTER(v) becomes v. AFTER(old, v, box) becomes where(inside the box, v, old). Outputs with `boxed` keep their After,
/// with the home's Param as first source. If the new content is a view of the home, it is copied first: the store would
/// overwrite what it reads.
void lower_versions(PlanGraph& plan, const std::vector<bool>& boxed);

}  // namespace sinter::schedule
