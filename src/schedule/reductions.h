// How each reduction is summed, fixed before kernel boundaries are drawn (SEMANTICS F1, F2).
#pragma once

#include "schedule/plan_graph.h"

namespace sinter::schedule {

/// REDUCE(Add, a * b) on floats becomes REDUCE(Dot; a, b), and every float REDUCE gets its Tree: from its shape (bounds
/// of symbolic sizes), its dtype and the way its sources lie in memory, and from nothing else: not from consumers,
/// threads or fusion. Sources that lie in order along the reduced axes are summed in lanes, long ones in blocks too;
/// all others in one chain.
void choose_reductions(PlanGraph& plan);

}  // namespace sinter::schedule
