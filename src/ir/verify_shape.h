// The shape that a node must have, given its sources and attribute.
#pragma once

#include <string>

#include "ir/graph.h"

namespace sinter::ir {

/// What is wrong with the shape of a node outside kernels. Empty if nothing is. Attribute kind, arity and types must
/// have been checked.
std::string shape_error(UOp node);

}  // namespace sinter::ir
