// Instructions to C.
#pragma once

#include <string>

#include "codegen/ssa/instructions.h"
#include "runtime/base/kernel_source.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// The text of one kernel, and of what runs after it (or null): freestanding C for Clang 19 and GCC 12 as the target's
/// dialect says, no headers, no library calls. `hint` is the readable part of its name; a hash of the text makes equal
/// kernels have equal names and others different ones.
runtime::KernelSource render_c(const Instructions& code, const Instructions* epilogue_kernel, const std::string& hint,
                               const runtime::Target& target);

}  // namespace sinter::codegen
