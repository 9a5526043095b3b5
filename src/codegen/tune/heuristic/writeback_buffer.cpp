// Measured on the input gradient of 5 x 5 windows, 128 x 32 x 24 x 24: 0.89 of the time, and 0.7 of the text.
#include "codegen/tune/heuristic/writeback_buffer.h"

#include <algorithm>

#include "codegen/kernel/access.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int64_t kBytes = 48 << 10;  ///< of results that rest: they stay in the first cache or near it
constexpr int64_t kRow = 8;           ///< results that are stored together, at least
/// Elements from one of them to the next, at most: a phase of a window with a stride of 2 takes 0.9 of the time.
constexpr int64_t kApart = 2;
/// Summed elements: with fewer keeping results takes a share of the time that shows, with more storing them takes none.
constexpr double kShallow = 64, kDeep = 1024;

/// The range along which a store of its results goes side by side, or nearly so, if neither lanes nor copies lie side
/// by side. Null: there is none.
UOp stored_along(View& view, const Work& product, const RegisterTile& tile) {
  for (const Work& s : view.works()) {
    if (s.is_reduce() || !in(s.sums, product.node)) continue;
    const bool near = view.stride(s.node, tile.lanes) == 1 || view.stride(s.node, tile.first) == 1 ||
                      (tile.second && view.stride(s.node, tile.second) == 1);
    if (near) continue;
    for (int64_t apart = 1; apart <= kApart; ++apart)
      for (UOp r : s.outs)
        if (is_outer(r) && r != tile.lanes && r != tile.first && view.stride(s.node, r) == apart &&
            view.size(r) >= kRow)
          return r;
  }
  return {};
}

/// How many values of a range one point covers.
int64_t block_of(const std::vector<Opt>& opts, UOp range) {
  const Block* block = find_opt<Block>(opts, range_id(range));
  return block ? block->size : 1;
}

}  // namespace

std::vector<Opt> rest_results(View& view, const Work& product, const RegisterTile& tile, const std::vector<Opt>& opts) {
  if (!tile.lanes || !tile.first || !is_outer(tile.lanes) || !is_outer(tile.first) || product.own.empty()) return {};
  const UOp row = stored_along(view, product, tile), summed = product.own[0];
  const auto sums = [&](int range) {
    return std::any_of(product.own.begin(), product.own.end(), [&](UOp r) { return range_id(r) == range; });
  };
  const auto carried = [&](const Opt& o) {  // one of its loops stands outside those of the tile
    const Order* order = std::get_if<Order>(&o);
    if (!order) return false;
    const auto lanes = std::find(order->loops.begin(), order->loops.end(), Order::Loop{range_id(tile.lanes), 0});
    return std::any_of(order->loops.begin(), lanes, [&](const Order::Loop& l) { return sums(l.range); });
  };
  double deep = 1;
  for (UOp r : product.own) deep *= static_cast<double>(view.size(r));
  if (!row || deep < kShallow || deep > kDeep || std::any_of(opts.begin(), opts.end(), carried)) return {};

  // As much of a row as fits.
  const int64_t rows = block_of(opts, tile.first), whole = std::min(block_of(opts, row), view.size(row));
  const int64_t most =
      kBytes / (static_cast<int64_t>(size_of(product.node->dtype)) * tile.rows * block_of(opts, tile.lanes));
  int64_t part = whole <= most ? whole : most / kRow * kRow;
  while (part >= kRow && part < whole && whole % part && whole < view.size(row))
    part -= kRow;  // blocks are multiples of it, or all there is
  if (part < kRow) return {};

  std::vector<Opt> out;
  Order order;
  for (const Opt& o : opts) {
    const Order* given = std::get_if<Order>(&o);
    if (!given) {
      out.push_back(o);
      continue;
    }
    std::vector<Order::Loop> inside;
    for (const Order::Loop& l : given->loops) {
      if (sums(l.range) && l.range != range_id(summed)) inside.push_back(l);
      if (!sums(l.range) && l.range != range_id(tile.first) && l.range != range_id(row) &&
          l.range != range_id(tile.lanes))
        order.loops.push_back(l);
    }
    const auto cut = [&](UOp range, int64_t step, bool by) {  // the place of what is left of it
      if (!by) return 0;
      out.push_back(Split{range_id(range), step});
      order.loops.push_back({range_id(range), 0});
      return 1;
    };
    const int of_first = cut(tile.first, tile.rows, rows > tile.rows), of_row = cut(row, part, part < whole);
    const int of_sum = cut(summed, view.size(summed), true);
    for (const Order::Loop& l : {Order::Loop{range_id(tile.first), of_first},
                                 {range_id(row), of_row},
                                 {range_id(tile.lanes), 0},
                                 {range_id(summed), of_sum}})
      order.loops.push_back(l);
    order.loops.insert(order.loops.end(), inside.begin(), inside.end());
    out.push_back(order);
  }
  return order.loops.empty() ? std::vector<Opt>{} : out;
}

}  // namespace sinter::codegen
