// Kernels missing from all caches -> objects: shared translation units, compiled in parallel.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/base/kernel_source.h"
#include "runtime/cpu/compiler.h"

namespace sinter::runtime::cpu {

/// The functions that a kernel defines: NAME and, if it has an epilogue, NAME_finish.
std::vector<std::string> entries_of(const KernelSource& kernel);

/// One result per kernel, in order, each with an object of its own. A kernel that fails does not affect the others. Its
/// result holds the log of its text alone. Throws BackendError if the compiler cannot run.
std::vector<CompileResult> build(std::span<const KernelSource* const> kernels, const Compiler& compiler,
                                 const Target& target);

}  // namespace sinter::runtime::cpu
