// Stores into memory that others still read (SEMANTICS V3): which of them happen in place.
#pragma once

#include <map>
#include <vector>

#include "schedule/fusion/partition.h"

namespace sinter::schedule {

/// Before the partition: fills FusionNode::before with the stores that each reader of a home must precede. Where nodes
/// wait for each other in a circle (a swap), the first one that could run but for its readers takes new storage
/// instead. Returns the outputs that lost their home so.
std::vector<int> order_in_place(FusionGraph& graph);

/// After it, for real: takes from `graph.homes` what a kernel would overwrite before its last reader: read there at
/// another element than the one written, in a kernel that does not run before, or by stores of one kernel that wait for
/// each other. Puts the stores of each kernel in an order in which each reads old values only. Returns the outputs of
/// boxes that lost their home so: the partition is of no use then, because a box is written nowhere else.
std::vector<int> settle_in_place(Partition& p);

/// Whether all that `kernel` reads of a Buffer node is the very element that its `store` writes at the same point.
bool reads_only_what_it_writes(Partition& p, int kernel, int buffer, int store);

/// slot -> the node that is to be stored there
std::map<int, int> stores_by_slot(const FusionGraph& graph);

}  // namespace sinter::schedule
