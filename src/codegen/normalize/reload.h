// Sums of what their kernel stores anyway.
#pragma once

#include "codegen/kernel/kernel.h"

namespace sinter::codegen {

/// In:  a kernel before its reductions are split.
/// Out: the same values. A REDUCE in blocks never shares the loops of a STORE. Where it combines what a STORE of the
/// kernel stores, it loads that from there, instead of computing it again, and the STORE comes first.
ir::UOp reload_stores(const Kernel& kernel);

}  // namespace sinter::codegen
