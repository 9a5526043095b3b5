// Settings of float arithmetic.
#pragma once

#include <string>
#include <string_view>

#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// Whether computations on the CPU treat denormal floats, those below the smallest normal number (1.2e-38 for float32),
/// as zeros, both as operands and as results: torch.set_flush_denormal. Off at first. Arithmetic on denormals may be
/// many times slower, for example in a simulation that decays. The setting is global. It is read when a value is
/// computed, by any thread, not when it is built. Values that are moved, selected or converted may stay denormal; a GPU
/// keeps all denormals (docs/semantics.md, N7).
/// @snippet reading.cpp denormal
void set_flush_denormal(bool on);
/// The present setting.
bool flush_denormal();

/// How products of float32 are computed: torch.set_float32_matmul_precision.
/// - "highest", the default: in float32.
/// - "high": factors may be rounded to tf32 (10 bits of fraction, the exponents of float32) where tensor cores compute
///   matmul and what is made of it, einsum, linear layers, attention, convolutions and their gradients. Each factor is
///   rounded to the nearest; products are exact and sums float32. The error is about 2^-11 of each product.
/// - "medium": permits bfloat16 too. It computes as "high".
/// The setting is global. It is read by the call that builds a product, and belongs to the value from then on, as it
/// does to its gradient; a jitted function has a program for each setting. CPUs, and GPUs before Hopper (sm_90),
/// compute all of them alike. Products that are too small for tensor cores stay float32 (docs/semantics.md, F8).
/// UsageError for another name.
/// @snippet training.cpp tf32
void set_float32_matmul_precision(std::string_view precision, Loc where = Loc::current());
/// The name of the present setting.
std::string get_float32_matmul_precision();

}  // namespace sinter::inline v0
