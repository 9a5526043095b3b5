// The tile that one instruction of a tensor core computes (mma.sync of 16 x 8 results), and which thread of the warp
// holds what. PTX ISA, "Matrix Fragments for mma.m16n8k16"; those of other types have as many words.
#pragma once

#include "sinter/dtype.h"

namespace sinter::codegen {

/// Threads of a warp along one dim of a tile. Thread t has the vectors number t / stride % threads, and further copies
/// `threads` vectors apart.
struct WarpDigits {
  int threads = 1, stride = 1, copies = 1;
  friend bool operator==(const WarpDigits&, const WarpDigits&) = default;
};

/// One dim of a tile: adjacent elements in a thread's registers, then threads, then copies.
struct MmaDim {
  int lanes = 1;
  WarpDigits warp;
  constexpr int size() const { return lanes * warp.threads * warp.copies; }
};

/// Rows of the result and of the first factor.
inline constexpr MmaDim kMmaRows{1, {8, 4, 2}};
/// Columns of the result, and of the second factor.
inline constexpr MmaDim kMmaColumns{2, {4, 1, 1}}, kMmaFactorColumns{1, {8, 4, 1}};
/// What both factors are summed over: a step of a tensor core (ir/mma_step.h).
inline MmaDim mma_depth(DType factor) { return {4 / static_cast<int>(size_of(factor)), {4, 1, 2}}; }

/// Rows of a matrix that a warp loads from shared memory as a whole, and elements of a row.
inline constexpr int kMatrixRows = 8;
inline int matrix_row(DType factor) { return 16 / static_cast<int>(size_of(factor)); }

inline constexpr int kWarp = 32;  ///< threads

}  // namespace sinter::codegen
