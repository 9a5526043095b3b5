// Numbers on which SINTER_CHECK=1 compares two forms of one program.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/exec/array.h"

namespace sinter::runtime {

/// Numbers that differ, the same ones for the same seed: small and of both signs, so that few look-ups by them leave
/// their tables.
Array sample(DType dtype, std::vector<int64_t> shape, uint64_t seed);

/// The value of an argument: 0 for an offset, at which every box lies inside its tensor.
ir::Scalar sample_argument(DType dtype);

/// The value of a variable: as small as is telling.
int64_t sample_size(const Var& var);

/// Equal types, numbers and bits, but for which NaN it is. Shapes may differ by a reshape.
bool same_values(const Array& a, const Array& b);

}  // namespace sinter::runtime
