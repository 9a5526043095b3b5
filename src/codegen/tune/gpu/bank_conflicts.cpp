// In one pass each of 32 banks serves one word of 4 bytes to any number of threads. Wider accesses are split: as many
// threads take part in a pass as 128 bytes serve.
#include "codegen/tune/gpu/bank_conflicts.h"

#include <algorithm>
#include <array>

#include "codegen/nest/tile_copy.h"
#include "rewrite/linear.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kWord = 4, kWidest = 16, kPass = 128;  ///< bytes

int64_t begin(const ThreadWalk& w, int thread) { return int64_t{1} * w.lanes * (thread / w.stride % w.threads); }

}  // namespace

int64_t bank_passes(std::span<const int64_t> first, int64_t width, int64_t bytes) {
  const int64_t unit = std::max(width * bytes, kWord), together = kPass / unit;
  int64_t passes = 0;
  std::array<int64_t, kWarp> words{};
  for (size_t begin = 0; begin < first.size(); begin += static_cast<size_t>(together)) {
    const size_t count = std::min(first.size() - begin, static_cast<size_t>(together));
    for (size_t i = 0; i < count; ++i) words[i] = ir::floor_div(first[begin + i] * bytes, unit);
    const auto last = words.begin() + static_cast<std::ptrdiff_t>(count);
    std::sort(words.begin(), last);
    std::array<int, kWarp> requests{};  // distinct words of each bank
    int most = 0;
    const auto end = std::unique(words.begin(), last);
    for (auto word = words.begin(); word != end; ++word)
      most = std::max(most, ++requests[ir::floor_mod(*word, together)]);
    passes += most;
  }
  return passes;
}

int64_t bank_passes(const TileCopy& layout, DType dtype, std::span<const ThreadWalk> dims) {
  const auto size = static_cast<int64_t>(size_of(dtype));
  const ThreadWalk& last = dims.back();
  const int64_t pitch = last.extent + layout.pad, period = swizzle_period(last.extent, dtype);
  int64_t width = std::min<int64_t>(last.lanes, kWidest / size), rows = 1;
  while (pitch % width) width /= 2;  // rows begin at whole vectors
  for (const ThreadWalk& d : dims.first(dims.size() - 1)) rows *= d.lanes;
  /// The offset of an element whose place along the dims with lanes is `row` and `column` after the thread's first.
  auto place = [&](int thread, int64_t row, int64_t column) {
    int64_t number = 0;
    for (const ThreadWalk& d : dims.first(dims.size() - 1))
      number = number * d.extent + begin(d, thread) + (d.lanes > 1 ? row : 0);
    column += begin(last, thread);
    if (layout.swizzle_unit)
      column ^= number / layout.swizzle_rows % (period / layout.swizzle_unit) * layout.swizzle_unit;
    return number * pitch + column;
  };
  int64_t passes = 0;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < last.lanes; c += width) {
      std::array<int64_t, kWarp> at{};
      for (int t = 0; t < kWarp; ++t) at[t] = place(t, r, c);
      passes += bank_passes(at, width, size);
    }
  return passes;
}

}  // namespace sinter::codegen
