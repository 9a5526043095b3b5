// The driver: applies a set of rules to a graph until none fires.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rewrite/rule.h"

namespace sinter::ir {

/// `root` with every node rewritten to a fixed point, sources first. A node with storage is a leaf. Rules see nodes
/// whose sources are final; the first that fires wins, in the order of the set. `pass` names the run in events and
/// errors. Throws InternalError that names the rules when they go round in circles.
UOp rewrite(Graph& g, UOp root, const RuleSet& rules, const char* pass);
/// The same for several roots that share nodes.
std::vector<UOp> rewrite(Graph& g, std::span<const UOp> roots, const RuleSet& rules, const char* pass);

/// How many runs of the driver this process has made.
size_t rewrite_runs();

}  // namespace sinter::ir
