// Stores into memory that others still read (SEMANTICS V3): which of them can be in place.
#pragma once

#include <map>
#include <vector>

#include "schedule/fusion/partition.h"

namespace sinter::schedule {

/// Before the partition: fills FusionNode::before with the stores that must follow each reader of a home. Breaks cycles
/// (a swap): the first node that only waits for readers takes new storage instead. Returns the outputs that lost their
/// home.
std::vector<int> order_in_place(FusionGraph& graph);

/// After the partition: clears in `graph.homes` every home that a kernel would overwrite before its last read. Such a
/// read is of another element than the one written, or in a kernel that does not run before, or in a cycle of stores of
/// one kernel. Sorts the stores of each kernel so that each reads old values only. Returns the outputs of boxes that
/// lost their home: the partition is invalid then, because a box can only be written in its home.
std::vector<int> settle_in_place(Partition& p);

/// Whether every read of a Buffer node in `kernel` is the element that its `store` writes in the same iteration.
bool reads_only_what_it_writes(Partition& p, int kernel, int buffer, int store);

/// Slot -> the node stored there in place.
std::map<int, int> stores_by_slot(const FusionGraph& graph);

}  // namespace sinter::schedule
