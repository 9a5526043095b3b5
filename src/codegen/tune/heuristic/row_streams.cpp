// Rows of a matrix that are read once, as the weights of a layer are for a single sample. A core follows a few streams
// of memory and needs some lines to find each. Adjacent rows side by side are short streams: all of them end at once,
// and the next rows begin elsewhere. Copies that are several rows apart go from one row to the next.
//
// On Zen 2 (2 threads, 3,072 rows of 3 KB from memory, 2026-12-01) seven adjacent rows are read at 21 GB/s and six
// that go on for 16 rows each at 27; of 12 KB both at 27.
#include <algorithm>

#include "codegen/nest/loop_tree.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "codegen/tune/heuristic/steps.h"
#include "ir/ceil_div.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kLongRow = 3 * runtime::kPage;     ///< bytes from which it is a stream of its own
constexpr int64_t kLongStream = 4 * runtime::kPage;  ///< bytes of adjacent rows that a copy goes through, at least
constexpr int kFewestStreams = 4;

/// The bytes of a row, if all that a product reads along `rows` exceeds the second cache by far, in rows of its own
/// that do not overlap and are read once; else 0.
int64_t row_bytes_along(TuningState& state, const StatementAnalysis& product, UOp rows) {
  int64_t bytes = 0;
  for (UOp a : product.accesses) {
    if (!state.analysis.depends(a, rows)) continue;
    const auto read_once = [&](UOp r) { return state.analysis.depends(a, r); };
    if (a->op != Op::Load || !std::ranges::all_of(product.result_ranges, read_once) ||
        state.analysis.stride(a, product.reduced_ranges.back()) != 1 ||
        !far_exceeds_l2(state.analysis, a, state.target))
      return 0;
    const int64_t apart = state.analysis.byte_stride(a, rows);
    if (apart < state.analysis.size(product.reduced_ranges.back()) * static_cast<int64_t>(size_of(a->dtype))) return 0;
    bytes = std::max(bytes, apart);
  }
  return bytes;
}

/// The most copies, up to `most`, that go through `size` values in whole steps.
int dividing_copies(int64_t size, int most) {
  while (size % most) --most;
  return most;
}

/// The rows of a task are streams, in place of those of several tasks: copies of them that leave none over.
std::vector<Opt> copy_rows_of_task(const TuningState& state, const RegisterTile& tile, UOp rows,
                                   std::vector<Opt> opts) {
  const int copies = dividing_copies(state.analysis.size(rows), tile.rows * tile.columns);
  if (copies < kFewestStreams) return {};
  const UOp others = rows == tile.row_range ? tile.column_range : tile.row_range;
  std::erase_if(opts, [&](const Opt& o) {
    const auto* unroll = std::get_if<Unroll>(&o);
    return unroll && (unroll->range == range_id(rows) || (others && unroll->range == range_id(others)));
  });
  opts.push_back(Unroll{range_id(rows), copies});
  return opts;
}

/// Copies of the rows that are a stretch of rows apart. Empty if there is nothing to gain.
std::vector<Opt> put_rows_apart(const TuningState& state, UOp rows, int64_t row_bytes, std::vector<Opt> opts) {
  auto* copies = find_opt<Unroll>(opts, range_id(rows));
  if (row_bytes >= kLongRow || !copies) return {};
  const int64_t size = state.analysis.size(rows);
  copies->count = dividing_copies(size, copies->count);
  if (copies->count < kFewestStreams) return {};
  const int64_t stretches = size / copies->count;
  copies->distance = ceil_div(kLongStream, row_bytes);
  while (copies->distance < stretches && stretches % copies->distance) ++copies->distance;
  const int64_t step = copies->count * copies->distance;
  if (copies->distance > stretches) return {};
  auto* block = find_opt<TaskBlock>(opts, range_id(rows));
  const int64_t rows_of_task = block ? round_up(block->size, step) : step;
  if (size / rows_of_task < state.target.parallel_units) return {};
  if (block)
    block->size = rows_of_task;
  else
    opts.push_back(TaskBlock{range_id(rows), rows_of_task});
  return opts;
}

}  // namespace

std::vector<Opt> separate_row_streams(TuningState& state, const std::vector<Opt>& opts) {
  if (state.products.size() != 1) return opts;
  const auto& [product, tile] = state.products[0];
  UOp rows = tile.row_range;
  if (rows && is_outer(rows) && tile.has_own_columns() && !is_outer(tile.column_range)) rows = tile.column_range;
  if (!rows || tile.lane_range || !has_static_size(rows)) return opts;
  const int64_t row_bytes = row_bytes_along(state, *product, rows);
  if (row_bytes <= 0) return opts;
  std::vector<Opt> out =
      is_outer(rows) ? put_rows_apart(state, rows, row_bytes, opts) : copy_rows_of_task(state, tile, rows, opts);
  return !out.empty() && is_legal(state.kernel, out) ? out : opts;
}

}  // namespace sinter::codegen
