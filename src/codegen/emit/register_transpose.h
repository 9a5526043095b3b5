// Small matrices that are transposed in registers: what is strided along lanes but lies side by side in memory along
// register copies is read and written as whole rows.
#pragma once

#include <vector>

#include "codegen/ssa/block_writer.h"

namespace sinter::codegen {

/// The largest distance, in elements, of lanes that wide loads and shuffles bring together; behind it single loads are
/// as good.
inline constexpr int64_t kWidestStride = 4;

/// In: `lanes` rows, each of as many elements as there shall be columns, a power of two up to `lanes`. Out: the
/// columns, each of `lanes` lanes: lane l of column c is element c of row l. Takes log2(columns) steps of as many
/// instructions as there are columns.
std::vector<Id> columns_of(BlockWriter& emit, const std::vector<Id>& rows);

/// The other way round: the rows that such columns are made of.
std::vector<Id> rows_of(BlockWriter& emit, std::vector<Id> columns);

/// In: vectors that are, one behind the other, the rows of a matrix with so many columns. Out: as many vectors that are
/// its columns, one behind the other. Each is one shuffle of all of them: for few vectors.
std::vector<Id> transpose_vectors(BlockWriter& emit, const std::vector<Id>& vectors, int columns);

}  // namespace sinter::codegen
