// What codegen does to the instructions of a kernel for GPUs, in order.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "codegen/ssa/instructions.h"
#include "runtime/base/kernel_source.h"
#include "runtime/base/target.h"
#include "sinter/shape.h"

namespace sinter::codegen {

/// In: instructions with vectors of any width.
/// Out: the same values lane by lane. Vectors are made only by a Load, whose uses are Parts of one lane, and by a Pack
/// for a Store or for the other value of a predicated Load. An access has at most 16 bytes and is aligned to its size,
/// given aligned buffers. Accesses with a count go element by element.
Instructions scalarize(const Instructions& code);

/// In:  what scalarize() leaves.
/// Out: the same values. If all loads of a buffer that is only read are whole groups of neighbors, 16 bytes that are
/// aligned, one Load of a vector replaces each group. Nothing changes where threads have few registers.
Instructions widen_loads(const Instructions& code);

/// In:  scalar instructions.
/// Out: the same, but each Max or Min of float32 is marked (Inst::imm) that may give a zero of either sign, because
/// nothing that the kernel stores depends on it.
Instructions relax_zero_signs(const Instructions& code);

/// In:  scalar instructions with 64-bit Index and U64. `max_blocks`: upper bound on the blocks of a launch. `vars`: the
/// variables that Var instructions name.
/// Out: the same values. An integer that provably fits 32 bits and is computed from integers that do is narrowed: Index
/// to Type::narrow, a quotient or remainder of U64 to U32. Where both widths are used, a cast follows the definition.
/// Memory and accumulators keep 64 bits.
Instructions narrow_indices(const Instructions& code, int64_t max_blocks, std::span<const Var> vars);

/// As render_c, for a GPU. The text has no includes and calls only functions that every CUDA compiler provides.
/// In: instructions with vectors in memory accesses only (codegen/gpu/scalarize.cpp).
runtime::KernelSource render_cuda(const Instructions& code, const Instructions* epilogue_kernel,
                                  const std::string& hint, const runtime::Target& target);

}  // namespace sinter::codegen
