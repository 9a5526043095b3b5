// Transposes of small matrices in registers. Accesses that are strided along lanes but contiguous along unrolled copies
// use whole rows.
#pragma once

#include <vector>

#include "codegen/ssa/block_writer.h"

namespace sinter::codegen {

/// Largest stride, in elements, for which wide loads and shuffles beat scalar loads.
inline constexpr int64_t kWidestStride = 4;

/// In: `lanes` rows with as many elements as there are columns, a power of two up to `lanes`. Out: the columns, vectors
/// of `lanes` lanes: lane l of column c is element c of row l. Takes log2(columns) steps with one instruction per
/// column each.
std::vector<Id> columns_of(BlockWriter& emit, const std::vector<Id>& rows);

/// The inverse: the rows of such columns.
std::vector<Id> rows_of(BlockWriter& emit, std::vector<Id> columns);

/// In: vectors that, concatenated, are the rows of a matrix with `columns` columns. Out: as many vectors that,
/// concatenated, are its columns. Each output is one shuffle of all inputs, so this is for few vectors.
std::vector<Id> transpose_vectors(BlockWriter& emit, const std::vector<Id>& vectors, int columns);

}  // namespace sinter::codegen
