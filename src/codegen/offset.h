// Where in a buffer an access stands.
#pragma once

#include "rewrite/linear.h"

namespace sinter::codegen {

/// The row-major offset of the element that a LOAD or STORE touches in its Param, in elements.
ir::Linear offset_of(ir::UOp access);

}  // namespace sinter::codegen
