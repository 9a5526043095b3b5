// The meaning of every elementwise op on one set of numbers (SEMANTICS F1, F4, F5): constant folding, the rule fuzzer
// and the interpreter all use this one evaluator.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "ir/attr.h"
#include "ir/op.h"

namespace sinter::ir {

/// op on `args`, one Scalar per source. `dtype` is the result's type, `from` that of the last source (they differ in
/// casts and comparisons). float32 is rounded after every op, transcendental functions are computed in double and
/// rounded once; the 16-bit floats are computed in float32 and rounded once more, but a double is cast to them with one
/// rounding; integers wrap, x/0 = x%0 = 0, shifts are masked, casts saturate. Max and Min give the first of two
/// equal operands. A Check gives its value. Throws InternalError for an op that is not elementwise.
Scalar evaluate(Op op, DType dtype, DType from, std::span<const Scalar> args);
inline Scalar evaluate(Op op, DType dtype, std::span<const Scalar> args) { return evaluate(op, dtype, dtype, args); }

/// Ldexp: x * 2^y, rounded once; y is whole, of any size, or NaN, which comes out.
template <class T>
T ldexp_clamped(T x, T y) {
  constexpr T kMost = 1 << 14;  // more than all exponents of a double
  return std::isnan(y) ? y : std::ldexp(x, static_cast<int>(std::clamp(y, -kMost, kMost)));
}

/// The number's bits as it lies in memory, zero-extended; and back. The 8-bit floats are no types
/// of numbers: InternalError.
uint64_t to_bits(DType dtype, Scalar value);
Scalar from_bits(DType dtype, uint64_t bits);

/// Threefry-2x32-20 (Salmon et al., SC 2011): low words first in counter, key and result.
uint64_t threefry(uint64_t counter, uint64_t key);

}  // namespace sinter::ir
