// Inputs on which SINTER_CHECK=1 compares two forms of one program.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/exec/array.h"

namespace sinter::runtime {

/// Varied numbers, a function of the seed. Small and of both signs, so that few of them are out of range as indices.
Array sample(DType dtype, std::vector<int64_t> shape, uint64_t seed);

/// The value of an argument. 0 for an offset, which keeps every box inside its tensor.
ir::Scalar sample_argument(DType dtype);

/// The value of a variable: small, but large enough to be a test.
int64_t sample_size(const Var& var);

/// Equal types and bits, except that any NaN equals any other. Shapes may differ by a reshape.
bool same_values(const Array& a, const Array& b);

}  // namespace sinter::runtime
