// In one pass each of 32 banks serves one word of 4 bytes to any number of threads. Wider accesses are split: as many
// threads take part in a pass as 128 bytes serve.
#include "codegen/tune/gpu/bank_conflicts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "codegen/nest/joined_dims.h"
#include "codegen/nest/tile_copy.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kWord = 4, kWidest = 16, kPass = 128;  ///< bytes

}  // namespace

int64_t bank_passes(std::span<const int64_t> first, int64_t width, int64_t bytes) {
  const int64_t unit = std::max(width * bytes, kWord), together = kPass / unit;  // powers of two
  const int shift = std::countr_zero(static_cast<uint64_t>(unit));
  int64_t passes = 0;
  std::array<int64_t, kWarp> words{};
  for (size_t begin = 0; begin < first.size(); begin += static_cast<size_t>(together)) {
    const size_t count = std::min(first.size() - begin, static_cast<size_t>(together));
    for (size_t i = 0; i < count; ++i) words[i] = first[begin + i] * bytes >> shift;
    const auto last = words.begin() + static_cast<std::ptrdiff_t>(count);
    std::sort(words.begin(), last);
    std::array<int, kWarp> requests{};  // distinct words of each bank
    int most = 0;
    const auto end = std::unique(words.begin(), last);
    for (auto word = words.begin(); word != end; ++word)
      most = std::max(most, ++requests[static_cast<size_t>(*word & (together - 1))]);
    passes += most;
  }
  return passes;
}

BankAccess bank_access(const TileCopy& layout, DType dtype, std::span<const ThreadWalk> dims) {
  const auto size = static_cast<int64_t>(size_of(dtype));
  const ThreadWalk& last = dims.back();
  const size_t first = first_joined(layout, dims.size() - 1);  // of the dims of a row
  std::vector<int64_t> strides(dims.size());
  int64_t elements = 1, pitch = 1, rows = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = elements;
    elements *= dims[d].extent;
    if (d == first) pitch = elements += layout.pad;
  }
  const int64_t period = swizzle_period(last.extent, dtype);
  int64_t width = std::min<int64_t>(last.lanes, kWidest / size);
  while (pitch % width) width /= 2;  // rows begin at whole vectors
  for (const ThreadWalk& d : dims.first(dims.size() - 1)) rows *= d.lanes;
  std::array<int64_t, kWarp> row_of{}, column_of{};  // where each thread begins
  int64_t next_row = 0;
  for (size_t d = 0; d + 1 < dims.size(); ++d) {
    for (int t = 0; t < kWarp; ++t) row_of[t] += strides[d] * first_of(dims[d], t);
    if (dims[d].lanes > 1) next_row += strides[d];
  }
  for (int t = 0; t < kWarp; ++t) column_of[t] = first_of(last, t);
  const int64_t swizzled_rows = pitch * layout.swizzle_rows;
  const auto swizzled = [&](int64_t before, int64_t column) {
    if (!layout.swizzle_unit) return column;
    return column ^ before / swizzled_rows % (period / layout.swizzle_unit) * layout.swizzle_unit;
  };
  BankAccess all;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < last.lanes; c += width) {
      std::array<int64_t, kWarp> at{};
      for (int t = 0; t < kWarp; ++t) {
        const int64_t before = row_of[t] + r * next_row;
        at[t] = before + swizzled(before, column_of[t] + c);
      }
      all.passes += bank_passes(at, width, size);
      ++all.instructions;
    }
  return all;
}

}  // namespace sinter::codegen
