// Copies from a GPU's memory to a block's shared memory that run while threads compute.
#pragma once

#include "codegen/emit/values.h"

namespace sinter::codegen {

/// Begins to copy the element of a fill, or its vector, for the current unrolled copy. What no asynchronous copy can
/// do, such as lanes that are apart in memory, is loaded and stored at once. `code`: the kernel so far.
void emit_async_copy(Values& values, BlockWriter& emit, const Statement& fill, const Statements& statements,
                     const Instructions& code);

}  // namespace sinter::codegen
