// Products on tensor cores that one kernel computes a block at a time (docs/decisions/0044).
#pragma once

#include <vector>

#include "schedule/fusion/fusion_node.h"

namespace sinter::schedule {

/// Sets FusionNode::pair and ends_pair of nodes whose prices are known.
void find_pairs(std::vector<FusionNode>& nodes);

}  // namespace sinter::schedule
