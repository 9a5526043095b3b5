// Reverse mode, graph to graph: from a value and the gradient of it to the gradients of what it was made from, as lazy
// nodes like any other. Pure: consumes nothing, computes nothing (SEMANTICS G1).
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace sinter::autodiff {

/// The nodes that carry gradient from `root`: those that require grad, users before sources, `root` first. Goes past
/// storage (SEMANTICS H2), not past leaves, which are listed. Throws UsageError when it meets a consumed node (G2);
/// like every error here it has no place yet: the public call adds its own.
std::vector<ir::UOp> gradient_nodes(ir::UOp root);

/// d y / d x for each x, contracted with `seed`, which has y's shape and dtype. An x is a node, leaf or not: its
/// gradient is complete even when another x lies behind it. Zeros where y is flat in x. Throws UsageError for an x that
/// does not require grad or that y does not use. The caller holds a GraphScope; with grad enabled the results can be
/// differentiated again.
std::vector<ir::UOp> gradient(ir::UOp y, ir::UOp seed, std::span<const ir::UOp> xs);

}  // namespace sinter::autodiff
