// Reverse mode, graph to graph: from a value and its gradient to the gradients of what it was computed from, as
// ordinary lazy nodes. Pure: consumes nothing, computes nothing (SEMANTICS G1).
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace sinter::autodiff {

/// The nodes below `root` that carry gradient, that is require grad: users before sources, `root` first. The walk
/// passes through stored nodes (SEMANTICS H2) and stops at leaves, which are listed. Throws UsageError on a consumed
/// node (G2). Errors here carry no source location; the public call adds it.
std::vector<ir::UOp> gradient_nodes(ir::UOp root);

/// d y / d x for each x, contracted with `seed`, which has y's shape and dtype. An x is any node; its gradient is
/// complete even if another x is among its sources. Zeros if y does not depend on x. Throws UsageError for an x that
/// does not require grad or that y does not use. Requires a GraphScope. With grad enabled, the results can be
/// differentiated again.
std::vector<ir::UOp> gradient(ir::UOp y, ir::UOp seed, std::span<const ir::UOp> xs);

}  // namespace sinter::autodiff
