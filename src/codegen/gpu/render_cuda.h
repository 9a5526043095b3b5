// Renders instructions as CUDA C++.
#pragma once

#include <string>

#include "codegen/ssa/instructions.h"
#include "runtime/base/kernel_source.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// As render_c, for a GPU. The text has no includes and calls only functions that every CUDA compiler provides.
/// In: instructions with vectors in memory accesses only (codegen/gpu/scalarize.h).
runtime::KernelSource render_cuda(const Instructions& code, const Instructions* epilogue_kernel,
                                  const std::string& hint, const runtime::Target& target);

}  // namespace sinter::codegen
