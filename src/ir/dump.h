// A graph as text: first the line `sinter-ir 1`, then one node per line, sources before users, sharing preserved.
//   %3 = Add float32 [2, 3] (%1, %2)
//   %4 = Reduce float32 [2, 1] (%3) {Add axes [1] lanes 4 block 0}
// parse() reads it back exactly. A symbolic size is written `"batch"=96 in 1..256`, a device other than the CPU
// `@cuda:0`. The last line lists the roots, `roots %5, %8`, unless the only root is the last node.
#pragma once

#include <span>
#include <string>

#include "ir/graph.h"

namespace sinter::ir {

std::string dump(std::span<const UOp> roots);
std::string dump(UOp root);
/// "float32 [2, 3]", as in error texts for users.
std::string type_and_shape(UOp node);
/// One node without its sources, for error texts: "Add float32 [2, 3]".
std::string describe(UOp node);
/// An attribute alone, in braces. Empty if there is none.
std::string dump(const Attr& attr);
/// A number, exactly: integers in decimal, floats as -0.0, 1.5, inf, -inf, nan or nan:<bits>.
std::string dump(Scalar value);

}  // namespace sinter::ir
