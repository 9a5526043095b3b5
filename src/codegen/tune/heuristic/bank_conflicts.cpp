// In one pass each of 32 banks serves one word of 4 bytes to any number of threads. Wider accesses are split: as many
// threads take part in a pass as 128 bytes serve.
#include "codegen/tune/heuristic/bank_conflicts.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/nest/tile_copy.h"

namespace sinter::codegen {
namespace {

constexpr int kWarp = 32;
constexpr int64_t kWord = 4, kWidest = 16, kPass = 128;  ///< bytes

/// The offset of an element in its tile.
int64_t place(const TileCopy& layout, int64_t columns, int64_t period, int64_t row, int64_t column) {
  if (layout.swizzle_unit) column ^= row / layout.swizzle_rows % (period / layout.swizzle_unit) * layout.swizzle_unit;
  return row * (columns + layout.pad) + column;
}
int64_t begin(const ThreadWalk& w, int thread) { return int64_t{1} * w.lanes * (thread / w.stride % w.threads); }

}  // namespace

int64_t bank_passes(const TileCopy& layout, int64_t columns, DType dtype, const ThreadWalk& row,
                    const ThreadWalk& column) {
  const auto size = static_cast<int64_t>(size_of(dtype));
  const int64_t period = swizzle_period(columns, dtype);
  int64_t width = std::min<int64_t>(column.lanes, kWidest / size);
  while ((columns + layout.pad) % width) width /= 2;  // rows begin at whole vectors
  const int64_t unit = std::max(width * size, kWord), together = kPass / unit;
  int64_t passes = 0;
  for (int r = 0; r < row.lanes; ++r)
    for (int64_t c = 0; c < column.lanes; c += width)
      for (int first = 0; first < kWarp; first += static_cast<int>(together)) {
        std::map<int64_t, std::set<int64_t>> banks;  // words that threads request from each bank
        size_t most = 0;
        for (int t = first; t < first + together; ++t) {
          const int64_t at = place(layout, columns, period, begin(row, t) + r, begin(column, t) + c) * size / unit;
          banks[at % together].insert(at);
          most = std::max(most, banks[at % together].size());
        }
        passes += static_cast<int64_t>(most);
      }
  return passes;
}

}  // namespace sinter::codegen
