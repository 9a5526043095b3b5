// The shape that a node must have, given its sources and attribute.
#pragma once

#include <string>

#include "ir/graph.h"

namespace sinter::ir {

/// What is wrong with the shape of a node that is no kernel's; empty if nothing is. The attribute's kind, the arity and
/// the types have been checked.
std::string shape_error(UOp node);

}  // namespace sinter::ir
