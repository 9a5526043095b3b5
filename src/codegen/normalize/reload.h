// Reductions of values that their kernel stores anyway.
#pragma once

#include "codegen/kernel/kernel.h"

namespace sinter::codegen {

/// In:  a kernel whose reductions are not split yet.
/// Out: the same values. A blocked REDUCE never shares loops with a STORE. If it reduces the value of a STORE of the
/// kernel, it loads the stored value instead of recomputing it, and the STORE moves to the front.
UOp reload_stores(const Kernel& kernel);

}  // namespace sinter::codegen
