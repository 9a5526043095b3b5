// Windows over repeated elements, as in the convolution of an enlarged image.
#pragma once

#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// Materializes what the factors of products read through windows if its elements are repeated so that no single stride
/// connects neighbors. Otherwise each tap would gather the same elements again. What is computed from a reduction is
/// materialized below the repeats as well, or it would be computed once for each.
void store_repeats(PlanGraph& plan);

}  // namespace sinter::schedule
