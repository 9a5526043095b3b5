// What codegen does to the instructions of a kernel for CPUs, in order.
#pragma once

#include <string>

#include "codegen/ssa/instructions.h"
#include "runtime/base/kernel_source.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// In:  instructions for a CPU with `registers` vector registers.
/// Out: the same values. Innermost loops that transpose small matrices in registers and multiply the columns into
/// accumulators are software-pipelined. The loads and shuffles of an iteration move among the multiplications of the
/// previous one. A prologue does those of the first iteration; those of the last iteration are redundant.
/// Why: a burst of shuffles stalls the multiply units; spread evenly, the shuffles are hidden. The order of each sum is
/// unchanged.
Instructions software_pipeline(const Instructions& code, int registers);

/// In:  instructions for a CPU, in which unrolled copies of a loop body follow one another.
/// Out: the same instructions in another order. Long independent computations that end in their own stores or
/// accumulators are interleaved step by step, and so are the dependence chains within one computation.
/// Why: the reorder window of a CPU holds a few hundred instructions. If the next copy starts beyond it, the loop is
/// latency-bound.
Instructions interleave(const Instructions& code);

/// Source of a kernel and of its epilogue kernel (may be null): freestanding C for Clang 19 or GCC 12, by the target's
/// dialect, without headers or library calls. `hint` is the readable part of the name; a hash of the text follows, so
/// kernels have equal names if and only if their texts are equal.
runtime::KernelSource render_c(const Instructions& code, const Instructions* epilogue_kernel, const std::string& hint,
                               const runtime::Target& target);

}  // namespace sinter::codegen
