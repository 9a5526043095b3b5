// The names of the IR that all of codegen uses as its own.
#pragma once

#include "ir/graph.h"

namespace sinter::codegen {

using ir::AxisKind;
using ir::Op;
using ir::UOp;

}  // namespace sinter::codegen
