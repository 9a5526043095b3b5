// A row is short, and each begins on a new line, often on a new page. Hardware prefetch comes late for most of it.
#include "codegen/tune/heuristic/steps.h"

#include <algorithm>
#include <map>
#include <span>

#include "codegen/tune/heuristic/cache_sets.h"
#include "codegen/tune/heuristic/operand_analysis.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kMinRowDistance = 256;  ///< bytes from one row to the next, at least
/// Associativity of a first cache whose sets the rows of two tiles fill. With 12 ways (Zen 5, 6 rows) the prefetch
/// does no harm: the time is 1.02 of its floor.
constexpr int64_t kFewWays = 8;

/// Bytes that the loads read, counting each buffer once.
double bytes_of(KernelAnalysis& analysis, std::span<const UOp> accesses) {
  std::map<const ir::Node*, double> buffers;
  for (UOp a : accesses) {
    if (a->op != Op::Load) continue;
    double& bytes = buffers[a->src[0].get()];
    bytes = std::max(bytes, analysis.bytes_read(a));
  }
  double all = 0;
  for (const auto& [buffer, bytes] : buffers) all += bytes;
  return all;
}

}  // namespace

std::vector<Opt> prefetch_tile_rows(const Kernel& kernel, KernelAnalysis& analysis, const StatementAnalysis& product,
                                    const RegisterTile& tile, const runtime::Target& target) {
  // A step loads its columns and an element of each row, and prefetches another element of each row. That must not be
  // more than it multiplies.
  if (!tile.lane_range || !tile.row_range || !is_outer(tile.row_range) || tile.transpose_unroll > 1 ||
      tile.has_own_columns() || product.reduced_ranges.empty() || tile.columns + 2 * tile.rows > tile.accumulators() ||
      bytes_of(analysis, product.accesses) <= kFarL2Sizes * static_cast<double>(target.l2))
    return {};
  std::vector<Opt> opts;
  for (UOp a : product.accesses) {
    if (a->op != Op::Load) continue;
    const int64_t apart = analysis.byte_stride(a, tile.row_range);
    if (analysis.depends(a, tile.lane_range) || analysis.stride(a, product.reduced_ranges.back()) != 1 ||
        apart < kMinRowDistance)
      continue;
    if (is_page_stride(apart) && l1_associativity(target) <= kFewWays && 2 * tile.rows >= l1_associativity(target))
      continue;
    opts.emplace_back(Prefetch{node_index_of(kernel, a), range_id(tile.row_range), tile.rows});
  }
  return opts;
}

}  // namespace sinter::codegen
