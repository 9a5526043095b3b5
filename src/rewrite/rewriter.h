// The driver: applies a rule set to a graph until no rule fires.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rewrite/rule.h"

namespace sinter::ir {

/// Rewrites every node below `root` to a fixed point, sources first. A node with storage is a leaf. Rules see nodes
/// whose sources are final. The first rule that fires wins, in the order of the set. `pass` names the run in events and
/// errors. Throws InternalError with the names of the rules if they do not terminate.
UOp rewrite(Graph& g, UOp root, const RuleSet& rules, const char* pass);
/// The same for several roots that share nodes.
std::vector<UOp> rewrite(Graph& g, std::span<const UOp> roots, const RuleSet& rules, const char* pass);

/// Number of driver runs in this process.
size_t rewrite_runs();

}  // namespace sinter::ir
