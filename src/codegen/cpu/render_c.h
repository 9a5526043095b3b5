// Renders instructions as C.
#pragma once

#include <string>

#include "codegen/ssa/instructions.h"
#include "runtime/base/kernel_source.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// Source of a kernel and of its epilogue kernel (may be null): freestanding C for Clang 19 or GCC 12, by the target's
/// dialect, without headers or library calls. `hint` is the readable part of the name; a hash of the text follows, so
/// kernels have equal names if and only if their texts are equal.
runtime::KernelSource render_c(const Instructions& code, const Instructions* epilogue_kernel, const std::string& hint,
                               const runtime::Target& target);

}  // namespace sinter::codegen
