// Realising: from nodes that are asked for to nodes that have storage (SEMANTICS V2 to V6, H6).
#pragma once

#include <span>

#include "tensor/core/cell.h"

namespace sinter::tensor {

class StepCommit;

/// Gives n the memory of what it is a reshape of (SEMANTICS H3), if that has any.
void share_base_memory(ir::UOp n);

/// What a plan computes for `asked`: instead of a reshape what it is a reshape of, with which it lies, if that is
/// computed, not a number or a view, which others may share that want no memory for it; nothing for what has memory
/// already.
ir::Sources roots_for(std::span<const ir::UOp> asked);

/// Which of the versions that the calling thread has assigned a plan takes along (SEMANTICS V2).
enum class IncludeAssigned : uint8_t {
  All,
  Independent  ///< those that need nothing of what is asked for: the others are part of what will be computed from it
};

/// Computes what has no storage of `asked`, in one plan with what the calling thread has assigned, or in several where
/// devices change; nothing to compute runs nothing. With `commit`, its cells take their new versions when nothing can
/// fail before the last launches any more.
/// Inside a GraphScope, whose nodes that nothing else holds are gone afterwards; the caller holds `asked`. Throws what
/// preparing throws, with everything as it was, or what the launch throws, with what the plan stores poisoned.
void realize(std::span<const ir::UOp> asked, StepCommit* commit = nullptr,
             IncludeAssigned include = IncludeAssigned::All);

}  // namespace sinter::tensor
