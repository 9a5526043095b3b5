// The order in which kernels run, and which of them share a launch.
#pragma once

#include <vector>

#include "schedule/fusion/partition.h"
#include "schedule/graph/fusion_cost.h"

namespace sinter::schedule {

/// Kernels by launch, in order: sources before users, readers of a home before the kernel that writes it, what is
/// behind fewer barriers first, producers close to their users. The kernels of one launch are independent and run
/// concurrently: kernels of one level that do the same to other buffers, small ones beside the largest, and any that
/// would follow without waiting. Unfused: one kernel per launch.
std::vector<std::vector<int>> launch_order(const Partition& p, const Prices& prices, Policy policy);

}  // namespace sinter::schedule
