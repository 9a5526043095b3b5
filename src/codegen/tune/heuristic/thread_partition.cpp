// Splitting by columns. On Granite Rapids with 2 threads, 256 x 128 x 784 (second operand transposed) takes 0.9 of the
// time that rows take. If the columns do not split evenly it loses: 500 x 700 x 300, whose last vectors all belong to
// one thread, takes 1.26.
#include "codegen/tune/heuristic/thread_partition.h"

#include <algorithm>

#include "codegen/tune/heuristic/operand_analysis.h"
#include "ir/ceil_div.h"

namespace sinter::codegen {
namespace {

/// Rows per reduced value, at most. With more rows (256 x 10 x 128) stores cost more than packing saves: a core
/// prefetches lines between its own, which another core holds.
constexpr int64_t kMaxRowsPerDepth = 4;
constexpr int64_t kUneven = 16;  ///< vectors beyond an even share, at most 1 / kUneven of it

/// Whether rows and columns are the only outer ranges, so that a launch has no other tasks.
bool is_matrix(const StatementAnalysis& product, const RegisterTile& tile) {
  if (!tile.lane_range || !is_outer(tile.lane_range) || !tile.row_range || !is_outer(tile.row_range) ||
      tile.transpose_unroll > 1)
    return false;
  return std::ranges::all_of(product.result_ranges,
                             [&](UOp r) { return !is_outer(r) || r == tile.lane_range || r == tile.row_range; });
}

/// Vectors of the busiest thread if each thread gets the same number of adjacent tasks, give or take one.
int64_t busiest_thread_vectors(int64_t vectors, int64_t of_task, int threads) {
  const int64_t tasks = ceil_div(vectors, of_task);
  int64_t most = 0;
  for (int64_t i = 0; i < threads; ++i)
    most = std::max(most, std::min(vectors, tasks * (i + 1) / threads * of_task) - tasks * i / threads * of_task);
  return most;
}

/// Vectors of a task, a multiple of `step` and at most `most`, with which the busiest thread gets the fewest. Of
/// several, the most.
int64_t most_even_task(int64_t vectors, int64_t step, int64_t most, int threads) {
  int64_t best = step;
  for (int64_t of_task = 2 * step; of_task <= most; of_task += step)
    if (busiest_thread_vectors(vectors, of_task, threads) <= busiest_thread_vectors(vectors, best, threads))
      best = of_task;
  return best;
}

}  // namespace

int64_t even_task(int64_t vectors, int64_t step, int64_t most, int threads) {
  const int64_t fewest = busiest_thread_vectors(vectors, most_even_task(vectors, step, most, threads), threads);
  int64_t of_task = most / step * step;
  while ((busiest_thread_vectors(vectors, of_task, threads) - fewest) * kUneven > fewest) of_task -= step;
  return of_task;
}

bool passes_under_rows(KernelAnalysis& analysis, const RegisterTile& tile, UOp load) {
  return load->op == Op::Load && tile.lane_range && analysis.depends(load, tile.lane_range) &&
         !analysis.depends(load, tile.row_range) && !has_overlapping_windows(analysis, load);
}

int64_t columns_per_task(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile,
                         int lanes, const runtime::Target& target) {
  if (target.threads < 2 || !is_matrix(product, tile) || !has_static_size(tile.lane_range)) return 0;
  int64_t deep = 1, rows = 0;
  for (UOp r : product.reduced_ranges) deep *= analysis.size(r);
  for (UOp load : product.accesses) {
    if (load->op != Op::Load || passes_under_rows(analysis, tile, load)) continue;
    if (has_overlapping_windows(analysis, load)) return 0;
    rows += analysis.bytes(load);
  }
  if (rows > (target.near_l3 ? target.l2 : target.l2 / 2) || analysis.size(tile.row_range) > kMaxRowsPerDepth * deep)
    return 0;
  const int64_t step = tile.width(1), vectors = ceil_div(analysis.size(tile.lane_range), lanes);
  const int64_t best = most_even_task(vectors, step, vectors - 1, target.threads);
  const bool even =
      (busiest_thread_vectors(vectors, best, target.threads) * target.threads - vectors) * kUneven <= vectors;
  return even ? best * lanes : 0;
}

bool covers_all_rows_of_thread(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile,
                               const runtime::Target& target) {
  if (target.threads < 2 && !target.near_l3) return false;
  if (!is_matrix(product, tile) || !has_static_size(tile.row_range) ||
      range_id(tile.lane_range) < range_id(tile.row_range))
    return false;
  return std::ranges::any_of(product.accesses, [&](UOp a) {
    return passes_under_rows(analysis, tile, a) && analysis.bytes(a) >= large_operand_bytes(target);
  });
}

}  // namespace sinter::codegen
