// From the loop tree to instructions: loops over the launch's points, vectors, register copies and their tails are
// written out.
#pragma once

#include "codegen/instructions.h"
#include "codegen/loop_tree.h"

namespace sinter::codegen {

/// In: a kernel, its statements and their tree. Out: instructions in which only operations remain that ops.def defines.
/// Loops of a range with lanes or copies run while a whole step fits; what is left runs through the same body one by
/// one.
Instructions expand(const Kernel& kernel, const Statements& statements, const std::vector<Item>& tree, Ranges& ranges);

}  // namespace sinter::codegen
