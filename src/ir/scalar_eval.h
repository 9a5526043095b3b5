// The meaning of every elementwise op on numbers (SEMANTICS F1, F4, F5). Constant folding, the rule fuzzer and the
// interpreter all use this one evaluator.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "ir/attr.h"
#include "ir/op.h"

namespace sinter::ir {

/// op on `args`, one Scalar per source. `dtype` is the result's type, `from` that of the last source (they differ in
/// casts and comparisons). float32 is rounded after every op. Transcendental functions compute in double and round
/// once. 16-bit floats compute in float32 and round once more; a cast from double to them rounds once. Integers wrap,
/// x/0 = x%0 = 0, shifts are masked, casts saturate. Max and Min of equal operands give the first. A Check gives its
/// value. Throws InternalError for an op that is not elementwise.
Scalar evaluate(Op op, DType dtype, DType from, std::span<const Scalar> args);
inline Scalar evaluate(Op op, DType dtype, std::span<const Scalar> args) { return evaluate(op, dtype, dtype, args); }

/// What a scatter in that mode makes of an element and an update.
Scalar updated(ScatterMode mode, DType dtype, Scalar element, Scalar update);

/// Ldexp: x * 2^y, rounded once. y is a whole number of any size, or NaN, which is the result then.
template <class T>
T ldexp_clamped(T x, T y) {
  constexpr T kMost = 1 << 14;  // beyond all exponents of double
  return std::isnan(y) ? y : std::ldexp(x, static_cast<int>(std::clamp(y, -kMost, kMost)));
}

/// The bits of a number in memory, zero-extended; and back. Throws InternalError for the 8-bit floats, which have no
/// arithmetic.
uint64_t to_bits(DType dtype, Scalar value);
Scalar from_bits(DType dtype, uint64_t bits);

/// Threefry-2x32-20 (Salmon et al., SC 2011). The low word comes first in counter, key and result.
uint64_t threefry(uint64_t counter, uint64_t key);

}  // namespace sinter::ir
