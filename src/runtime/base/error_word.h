// The bits of a launch's error word (SEMANTICS F6).
#pragma once

#include <cstdint>

namespace sinter::runtime {

/// An index out of range: its number, as a Check names it, and its mask.
inline constexpr int64_t kIndexErrorBit = 0;
inline constexpr uint32_t kIndexError = uint32_t{1} << kIndexErrorBit;
/// A routine of LAPACK failed for a matrix.
inline constexpr uint32_t kMatrixError = uint32_t{1} << 1;

}  // namespace sinter::runtime
