// Vectors of blocks: with C columns, vector i is the concatenation of rows i, i + C, i + 2C, ... The step of a bit
// works on pairs of vectors whose indices differ in that bit, and exchanges elements whose indices differ in it. After
// all steps every block of C x C is transposed, and lane l of vector c is element c of row l. Vectors as short as an
// unpack instruction's are transposed with unpacks instead.
#include "codegen/emit/register_transpose.h"

#include <utility>

namespace sinter::codegen {
namespace {

/// Transposes the blocks. It is its own inverse.
void transpose_blocks(BlockWriter& emit, std::vector<Id>& vectors) {
  for (size_t bit = 1; bit < vectors.size(); bit *= 2)
    for (size_t i = 0; i < vectors.size(); ++i) {
      if (i & bit) continue;
      const Id a = vectors[i], b = vectors[i + bit];
      vectors[i] = emit.interleave(a, b, static_cast<int>(bit), false);
      vectors[i + bit] = emit.interleave(a, b, static_cast<int>(bit), true);
    }
}

constexpr size_t kUnpackBytes = 16;  ///< of vectors that every machine can unpack: interleave halves of two

/// The rows of columns of kUnpackBytes each. Each step interleaves the first half of all elements with the second half,
/// which moves the top bit of an element's index to the bottom. Once the bits of the column's index are there, rows are
/// consecutive.
std::vector<Id> unpack_rows(BlockWriter& emit, std::vector<Id> columns) {
  const size_t width = columns.size();
  const int lanes = emit.type(columns[0]).lanes;
  for (size_t step = 1; step < width; step *= 2) {
    std::vector<Id> next;
    for (size_t i = 0; i < width / 2; ++i)
      for (Id half : transpose_vectors(emit, {columns[i], columns[i + width / 2]}, lanes)) next.push_back(half);
    columns = std::move(next);
  }
  const int rows = lanes / static_cast<int>(width);  // rows per vector
  std::vector<Id> out;
  for (int row = 0; row < lanes; ++row)
    out.push_back(emit.part(columns[row / rows], row % rows * static_cast<int>(width), static_cast<int>(width)));
  return out;
}

}  // namespace

std::vector<Id> columns_of(BlockWriter& emit, const std::vector<Id>& rows) {
  const auto columns = static_cast<size_t>(emit.type(rows[0]).lanes);
  std::vector<Id> vectors;
  for (size_t i = 0; i < columns; ++i) {
    std::vector<Id> blocks;
    for (size_t row = i; row < rows.size(); row += columns) blocks.push_back(rows[row]);
    const Type type{emit.type(rows[0]).dtype, static_cast<int>(rows.size())};
    vectors.push_back(blocks.size() == 1 ? blocks[0] : emit.value({InstCode::Pack, type, std::move(blocks)}));
  }
  transpose_blocks(emit, vectors);
  return vectors;
}

std::vector<Id> rows_of(BlockWriter& emit, std::vector<Id> columns) {
  const int width = static_cast<int>(columns.size()), lanes = emit.type(columns[0]).lanes;
  if (size_of(emit.type(columns[0]).dtype) * static_cast<size_t>(lanes) == kUnpackBytes)
    return unpack_rows(emit, std::move(columns));
  transpose_blocks(emit, columns);
  std::vector<Id> rows;
  for (int row = 0; row < lanes; ++row) rows.push_back(emit.part(columns[row % width], row / width * width, width));
  return rows;
}

std::vector<Id> transpose_vectors(BlockWriter& emit, const std::vector<Id>& vectors, int columns) {
  std::vector<Id> out;
  for (size_t part = 0; part < vectors.size(); ++part) {
    out.push_back(emit.value({InstCode::Transpose, emit.type(vectors[0]), vectors, columns,
                              ir::Scalar::of(DType::Index, static_cast<int64_t>(part))}));
  }
  return out;
}

}  // namespace sinter::codegen
