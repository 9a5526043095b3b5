// The bytes of a panel, and the cache sets to which its rows map.
#include "codegen/tune/heuristic/pack_profitability.h"

#include <algorithm>
#include <numeric>

#include "codegen/tune/heuristic/cache_sets.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "codegen/tune/heuristic/thread_partition.h"
#include "ir/ceil_div.h"

namespace sinter::codegen {
namespace {

using runtime::kCacheLine, runtime::kPage;

constexpr int64_t kMinThreadRows = 32;  ///< rows per thread; fewer were not measured

}  // namespace

bool stays_unpacked(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile, UOp load,
                    int lanes, const runtime::Target& target) {
  if (!target.near_l3 || product.reduced_ranges.size() != 1 || !passes_under_rows(analysis, tile, load)) return false;
  if (!covers_all_rows_of_thread(analysis, product, tile, target) ||
      analysis.size(tile.row_range) < kMinThreadRows * target.threads)
    return false;
  const UOp summed = product.reduced_ranges[0];
  int64_t others = 0;  // bytes that are read once per panel
  for (UOp a : product.accesses) {
    if (a->op != Op::Load || a == load) continue;
    const int64_t step = analysis.byte_stride(a, summed);
    if (step == KernelAnalysis::kScattered || step >= kPage) return false;
    others += analysis.bytes(a);
  }
  if (others > target.l3 / 2) return false;
  const int64_t step = analysis.byte_stride(load, summed), deep = analysis.size(summed);
  if (step <= 0 || deep > kMaxBlockDepth || conflicts_in_sets(analysis, product, load)) return false;
  const int64_t row = tile.width(lanes) * static_cast<int64_t>(size_of(load->dtype));
  if (row < kMinPanelLines * kCacheLine) return false;
  // Rows begin at multiples of `apart` bytes, so a panel uses row / apart of the sets. Rows that begin within a line
  // touch one more line.
  const int64_t apart = std::gcd(step, kPage), lines = round_up(row, kCacheLine) + (step % kCacheLine ? kCacheLine : 0);
  return deep * step <= target.l2 || deep * std::max(apart, lines) <= target.l2 / 2;
}

}  // namespace sinter::codegen
