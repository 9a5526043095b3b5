// Measured on the input gradient of 5 x 5 windows, 128 x 32 x 24 x 24: faster, and less code.
#include "codegen/tune/heuristic/steps.h"

#include <algorithm>

#include "codegen/kernel/access.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kMaxBufferBytes = 48 << 10;  ///< bytes of buffered results: they stay in the first cache or near it
constexpr int64_t kMinRowResults = 8;          ///< results that are stored together, at least
/// Elements between results that are stored together, at most. One phase of a window with stride 2 has 2.
constexpr int64_t kMaxStoreStride = 2;
/// Reduced values. With fewer, the buffer takes a noticeable share of the time. With more, the stores take none.
constexpr double kMinDepth = 64, kMaxDepth = 1024;

/// The range along which a store of the results is contiguous, or nearly so, if neither lanes nor unrolled copies are.
/// Null if there is none.
UOp find_store_range(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile) {
  for (const StatementAnalysis& s : analysis.statements()) {
    if (s.is_reduce() || !contains(s.sums, product.node)) continue;
    const bool near = analysis.stride(s.node, tile.lane_range) == 1 || analysis.stride(s.node, tile.row_range) == 1 ||
                      (tile.column_range && analysis.stride(s.node, tile.column_range) == 1);
    if (near) continue;
    for (int64_t apart = 1; apart <= kMaxStoreStride; ++apart)
      for (UOp r : s.result_ranges)
        if (is_outer(r) && r != tile.lane_range && r != tile.row_range && analysis.stride(s.node, r) == apart &&
            analysis.size(r) >= kMinRowResults)
          return r;
  }
  return {};
}

/// Values of a range that a task covers.
int64_t block_of(const std::vector<Opt>& opts, UOp range) {
  const TaskBlock* block = find_opt<TaskBlock>(opts, range_id(range));
  return block ? block->size : 1;
}

}  // namespace

std::vector<Opt> add_writeback_buffer(KernelAnalysis& analysis, const StatementAnalysis& product,
                                      const RegisterTile& tile, const std::vector<Opt>& opts) {
  if (!tile.lane_range || !tile.row_range || !is_outer(tile.lane_range) || !is_outer(tile.row_range) ||
      product.reduced_ranges.empty())
    return {};
  const UOp row = find_store_range(analysis, product, tile), summed = product.reduced_ranges[0];
  const auto sums = [&](int range) {
    return std::ranges::any_of(product.reduced_ranges, [&](UOp r) { return range_id(r) == range; });
  };
  const auto carried = [&](const Opt& o) {  // whether a reduced loop is outside those of the tile
    const LoopOrder* order = std::get_if<LoopOrder>(&o);
    if (!order) return false;
    const auto lanes = std::ranges::find(order->loops, LoopOrder::Loop{range_id(tile.lane_range), 0});
    return std::any_of(order->loops.begin(), lanes, [&](const LoopOrder::Loop& l) { return sums(l.range); });
  };
  double deep = 1;
  for (UOp r : product.reduced_ranges) deep *= static_cast<double>(analysis.size(r));
  if (!row || deep < kMinDepth || deep > kMaxDepth || std::ranges::any_of(opts, carried)) return {};

  // As much of a row as fits.
  const int64_t rows = block_of(opts, tile.row_range), whole = std::min(block_of(opts, row), analysis.size(row));
  const int64_t most = kMaxBufferBytes / (static_cast<int64_t>(size_of(product.node->dtype)) * tile.rows *
                                          block_of(opts, tile.lane_range));
  int64_t part = whole <= most ? whole : most / kMinRowResults * kMinRowResults;
  while (part >= kMinRowResults && part < whole && whole % part && whole < analysis.size(row))
    part -= kMinRowResults;  // task blocks are multiples of it, or cover the range
  if (part < kMinRowResults) return {};

  std::vector<Opt> out;
  LoopOrder order;
  for (const Opt& o : opts) {
    const LoopOrder* given = std::get_if<LoopOrder>(&o);
    if (!given) {
      out.push_back(o);
      continue;
    }
    std::vector<LoopOrder::Loop> inside;
    for (const LoopOrder::Loop& l : given->loops) {
      if (sums(l.range) && l.range != range_id(summed)) inside.push_back(l);
      if (!sums(l.range) && l.range != range_id(tile.row_range) && l.range != range_id(row) &&
          l.range != range_id(tile.lane_range))
        order.loops.push_back(l);
    }
    const auto cut = [&](UOp range, int64_t step, bool by) {  // returns the level of the loop that is left inside
      if (!by) return 0;
      out.push_back(Split{range_id(range), step});
      order.loops.push_back({range_id(range), 0});
      return 1;
    };
    const int of_first = cut(tile.row_range, tile.rows, rows > tile.rows), of_row = cut(row, part, part < whole);
    const int of_sum = cut(summed, analysis.size(summed), true);
    for (const LoopOrder::Loop& l : {LoopOrder::Loop{range_id(tile.row_range), of_first},
                                     {range_id(row), of_row},
                                     {range_id(tile.lane_range), 0},
                                     {range_id(summed), of_sum}})
      order.loops.push_back(l);
    order.loops.insert(order.loops.end(), inside.begin(), inside.end());
    out.push_back(order);
  }
  return order.loops.empty() ? std::vector<Opt>{} : out;
}

}  // namespace sinter::codegen
