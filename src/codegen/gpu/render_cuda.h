// Instructions to CUDA C++.
#pragma once

#include <string>

#include "codegen/ssa/instructions.h"
#include "runtime/base/kernel_source.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// As render_c, for a GPU: one block of threads runs one point. The text includes nothing; what it calls are functions
/// that every CUDA compiler knows. In: instructions without vectors but in memory accesses
/// (codegen/gpu/scalarize.h).
runtime::KernelSource render_cuda(const Instructions& code, const Instructions* epilogue_kernel,
                                  const std::string& hint, const runtime::Target& target);

}  // namespace sinter::codegen
