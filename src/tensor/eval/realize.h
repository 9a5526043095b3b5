// Realization: from nodes that are asked for to nodes that have storage (SEMANTICS V2 to V6, H6).
#pragma once

#include <span>

#include "tensor/core/cell.h"

namespace sinter::tensor {

class StepCommit;

/// If n is a reshape of a node with memory, gives n that memory (SEMANTICS H3).
void share_base_memory(ir::UOp n);

/// Roots for `asked`. A pending reshape is replaced by its base, unless the base is a constant or a view. Nodes that
/// already have storage are dropped.
ir::Sources roots_for(std::span<const ir::UOp> asked);

/// Which versions assigned by the calling thread a plan includes (SEMANTICS V2).
enum class IncludeAssigned : uint8_t {
  All,
  Independent  ///< those that do not depend on the nodes asked for; later plans compute the others
};

/// Computes the nodes of `asked` that have no storage, together with the versions that the calling thread has assigned.
/// This is one plan, or several where devices change. If there is nothing to compute, nothing runs. With `commit`, its
/// cells take their new versions once nothing can fail before the last launches.
/// Inside a GraphScope. Pending nodes that nothing else holds are gone afterwards; the caller holds `asked`. If
/// preparation throws, everything is as it was. If a launch throws, what the plan stores is poisoned.
void realize(std::span<const ir::UOp> asked, StepCommit* commit = nullptr,
             IncludeAssigned include = IncludeAssigned::All);

}  // namespace sinter::tensor
