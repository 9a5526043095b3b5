// Tile layout, and materialization of values in tiles.
#include "codegen/nest/tile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "codegen/kernel/access.h"
#include "codegen/kernel/common_predicate.h"
#include "codegen/kernel/ranges.h"
#include "codegen/loopschedule/mma_tile.h"
#include "codegen/nest/tile_copy.h"
#include "ir/build.h"
#include "ir/contains.h"
#include "ir/walk.h"
#include "sinter/error.h"

namespace sinter::codegen {
namespace {

class TileBuilder {
 public:
  TileBuilder(const Kernel& kernel, const LoopSchedule& schedule, std::vector<Tile>& tiles)
      : kernel_(kernel), schedule_(schedule), tiles_(tiles), nodes_(ir::topological(kernel.sink)) {}

  UOp run() {
    std::map<int, const Materialize*> materializations;  // sources first
    for (const Materialize& opt : schedule_.materializations)
      if (!materializations.emplace(opt.value, &opt).second) refuse(to_string(opt), "the value has a tile already");
    std::map<int, const TileCopy*> copies;
    for (const TileCopy& copy : schedule_.tile_copies)
      if (materializations.contains(copy.value) || !copies.emplace(copy.value, &copy).second)
        refuse(to_string(copy), "the value has a tile already");
    std::unordered_map<UOp, UOp> made;
    std::vector<UOp> fills;
    std::vector<size_t> before;  // per fill: the first store that uses the value
    for (size_t i = 0; i < nodes_.size(); ++i) {
      UOp n = nodes_[i];
      if (n->op == Op::Sink) break;
      std::vector<UOp> src = ir::mapped(n->src, [&](UOp s) { return made.at(s); });
      UOp now = src == n->src ? n : ir::with_sources(*kernel_.graph, n, src);
      if (auto it = materializations.find(static_cast<int>(i)); it != materializations.end()) {
        require_no_bound(n, to_string(*it->second));
        before.push_back(first_user(n, *it->second));
        const Tile& tile = tile_for(n, *it->second, before.back());
        UOp param = param_of(*kernel_.graph, tile);
        fills.push_back(ir::store(param, indices_of(tile), now));
        now = ir::load(param, indices_of(tile));
        materializations.erase(it);
      }
      if (auto it = copies.find(static_cast<int>(i)); it != copies.end() && n->op == Op::Store) {
        const auto& [results, copied] = stage_results(n, now, *it->second);
        fills.push_back(results);
        before.push_back(static_cast<size_t>(std::ranges::find(kernel_.sink->src, n) - kernel_.sink->src.begin()));
        now = copied;
        copies.erase(it);
      } else if (it != copies.end()) {
        require_no_bound(n, to_string(*it->second));
        require_unwritten(n, *it->second);
        if (!(now == n) && has_windows(*it->second)) refuse(to_string(*it->second), "windows of other tiles");
        if (!(now == n) && std::ranges::any_of(it->second->dims, &TileCopy::CopyDim::joined))
          refuse(to_string(*it->second), "joined dims of other tiles");
        Tile tile = make_copy_tile(next_slot(), at_positions(n, *it->second), *it->second, schedule_, ranges_);
        UOp param = param_of(*kernel_.graph, tile);
        tile.fill = ir::store(param, indices_of(tile), at_positions(now, *it->second));
        tile.zeros = zero_predicate(n);
        now = ir::load(param, user_indices_of(*kernel_.graph, tile));
        if (has_windows(*it->second) && is_skipped(n)) now = ir::where(zero_predicate(n), now, ir::like(now, 0.0));
        tiles_.push_back(std::move(tile));
        copies.erase(it);
      }
      made[n] = now;
    }
    for (const auto& [value, opt] : materializations) refuse(to_string(*opt), "the kernel has no such value");
    for (const auto& [value, copy] : copies) refuse(to_string(*copy), "the kernel has no such value");
    std::vector<UOp> stores;
    for (size_t s = 0; s < kernel_.sink->src.size(); ++s) {
      for (size_t f = 0; f < fills.size(); ++f)
        if (before[f] == s) stores.push_back(fills[f]);
      stores.push_back(made.at(kernel_.sink->src[s]));
    }
    return ir::sink(*kernel_.graph, stores);
  }

 private:
  int64_t next_slot() const { return kernel_.params + static_cast<int64_t>(tiles_.size()); }

  static bool has_windows(const TileCopy& copy) {
    return std::ranges::any_of(copy.dims, [](const TileCopy::CopyDim& d) { return d.taps >= 0; });
  }
  /// Whether sums of products leave out what a predicate makes 0. They still do so where a tile holds the zeros.
  bool is_skipped(UOp value) const {
    const UOp predicate = zero_predicate(value);
    return predicate && std::ranges::any_of(nodes_, [&](UOp n) {
             return n->op == Op::Reduce && common_predicate(n) == predicate && ir::contains(values_of(n), value);
           });
  }
  /// The value as a function of positions in place of windows.
  UOp at_positions(UOp value, const TileCopy& copy) {
    for (const TileCopy::CopyDim& d : copy.dims)
      if (const LoopAxis& a = schedule_.of(d); a.window) value = at_position(*kernel_.graph, value, *a.window, a.range);
    return value;
  }

  /// The STORE of results in a tile, and that of the tile's elements in memory. `now`: the STORE of the results there.
  std::pair<UOp, UOp> stage_results(UOp store, UOp now, const TileCopy& copy) {
    const std::string opt = to_string(copy);
    if (predicate_of(store) || store->integer() != 0) refuse(opt, "the store has a predicate, or adds to memory");
    if (has_windows(copy) || copy.panel || copy.slots != 1) refuse(opt, "results have no windows, panels or slots");
    tiles_.push_back(make_copy_tile(next_slot(), store, copy, schedule_, ranges_));
    const UOp param = param_of(*kernel_.graph, tiles_.back());
    const std::vector<UOp> at = indices_of(tiles_.back());
    std::vector<UOp> src = now->src;
    src[1 + now->src[0]->rank()] = ir::load(param, at);
    return {ir::store(param, at, stored_value(now)), ir::with_sources(*kernel_.graph, now, src)};
  }

  /// A range whose bound is loaded from a tile would be another range.
  void require_no_bound(UOp value, const std::string& opt) const {
    for (const LoopAxis& a : schedule_.axes) {
      const std::vector<UOp> bound = ir::topological(a.range->src[0]);
      if (ir::contains(bound, value))
        refuse(opt, fmt::format("the bound of range {} depends on the value", range_id(a.range)));
    }
  }

  void require_unwritten(UOp value, const TileCopy& copy) const {
    for (UOp n : ir::topological(value))
      if (n->op == Op::Load)
        for (UOp store : kernel_.sink->src)
          if (store->src[0] == n->src[0]) refuse(to_string(copy), "the kernel writes what it reads");
  }

  /// The first store that uses the value. All users must see the same memory.
  size_t first_user(UOp value, const Materialize& opt) {
    const std::vector<UOp>& stores = kernel_.sink->src;
    size_t first = stores.size(), last = 0;
    for (size_t s = 0; s < stores.size(); ++s) {
      const std::vector<UOp> below = ir::topological(stores[s]);
      if (!ir::contains(below, value)) continue;
      first = std::min(first, s);
      last = s;
    }
    std::set<int64_t> read;
    for (UOp n : ir::topological(value))
      if (n->op == Op::Load) read.insert(slot_of(n));
    for (size_t s = 0; s < last; ++s)
      if (read.contains(slot_of(stores[s])))
        refuse(to_string(opt), "a store changes what it reads before its last user runs");
    return first;
  }

  /// `first`: the first store that uses the value.
  const Tile& tile_for(UOp value, const Materialize& opt, size_t first) {
    Tile tile = tile_of(value, opt);
    size_t at = tiles_.size();
    if (opt.over < 0) {
      tiles_.push_back(std::move(tile));
    } else {
      const auto held = held_.find(opt.over);
      if (held == held_.end()) refuse(to_string(opt), "no tile holds the value that it takes the place of");
      at = held->second;
      if (tile.dtype != tiles_[at].dtype || tile.dims != tiles_[at].dims)
        refuse(to_string(opt), "the tiles of the two values differ");
      require_last_use(value, nodes_[opt.over], opt, first);
      held_.erase(held);
    }
    held_[opt.value] = at;
    return tiles_[at];
  }
  /// Stores from the first user of `value` on may use `old` only by way of it. Fills of other tiles run where these
  /// stores need them, so the same holds for them; those of copies may use neither.
  void require_last_use(UOp value, UOp old, const Materialize& opt, size_t first) const {
    const auto uses = [&](UOp root, UOp except) {
      return ir::contains(ir::topological(std::span<const UOp>(&root, 1), [&](UOp n) { return !(n == except); }), old);
    };
    if (!uses(value, UOp())) refuse(to_string(opt), "it is not computed from the value whose place it takes");
    for (size_t s = first; s < kernel_.sink->src.size(); ++s)
      if (uses(kernel_.sink->src[s], value)) refuse(to_string(opt), "the value whose place it takes is used later");
    for (const TileCopy& copy : schedule_.tile_copies)
      if (copy.value >= 0 && static_cast<size_t>(copy.value) < nodes_.size() && uses(nodes_[copy.value], UOp()))
        refuse(to_string(opt), "the value whose place it takes is copied");
  }
  Tile tile_of(UOp value, const Materialize& opt) {
    if (value->op == Op::Store || value->op == Op::Range || value->op == Op::Param || value->dtype == DType::Void)
      refuse(to_string(opt), "it is not a value");
    std::vector<TileRange> ranges;
    size_t kept = 0;
    for (const LoopAxis& a : schedule_.axes) {
      if (a.size == 1 || !ranges_.depends(value, a.range)) continue;
      const bool along = ir::contains(opt.ranges, range_id(a.range));
      kept += along;
      ranges.push_back({a.range, along ? -1 : a.levels() - 1, a.width(), a.lanes > 1});
    }
    if (kept != opt.ranges.size()) refuse(to_string(opt), "the value does not depend on all these ranges");
    if (kept == 0) refuse(to_string(opt), "a tile of one element");
    Tile tile = make_tile(next_slot(), value->dtype, ranges, schedule_, opt.pad);
    if (tile.size > kLargestTile) refuse(to_string(opt), "the tile would be too large");
    return tile;
  }

  const Kernel& kernel_;
  const LoopSchedule& schedule_;
  std::vector<Tile>& tiles_;
  std::vector<UOp> nodes_;
  std::map<int, size_t> held_;  ///< by the position of a value: the tile that holds it
  FreeRanges ranges_;
};

}  // namespace

Tile make_tile(int64_t slot, DType dtype, const std::vector<TileRange>& ranges, const LoopSchedule& schedule, int pad) {
  Tile tile{slot, dtype, {}, 1};
  const auto one_iteration = [&](const TileRange& r) { return r.level == schedule.of(r.range).levels() - 1; };
  for (const TileRange& r : ranges) {
    const LoopAxis& a = schedule.of(r.range);
    Tile::TileDim dim{r.range, r.level, max_trip_count(r.range), 0};
    if (one_iteration(r))
      dim.stored_extent = r.width;
    else if (r.level >= 0)
      dim.stored_extent = std::min(dim.stored_extent, a.steps[r.level]);
    else if (a.outer())
      dim.stored_extent = std::min(dim.stored_extent, a.block);
    tile.dims.push_back(dim);
  }
  // Innermost first: ranges with lanes, then those stored in full, then those of which only one iteration is stored.
  // Among equals the last range is innermost.
  std::vector<size_t> order(ranges.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  auto rank = [&](size_t i) { return ranges[i].lanes ? 0 : one_iteration(ranges[i]) ? 2 : 1; };
  std::ranges::sort(order, [&](size_t a, size_t b) { return std::pair(rank(a), b) < std::pair(rank(b), a); });
  for (size_t i : order) {
    Tile::TileDim& d = tile.dims[i];
    if (d.stored_extent > 1) d.stride = tile.size;
    tile.size = tile.size * d.stored_extent + (d.stored_extent > 1 ? std::exchange(pad, 0) : 0);
    if (tile.size > kLargestTile) break;
  }
  return tile;
}

UOp matrix_rows(const Tile& tile, UOp across, UOp depth) {
  const int row = matrix_row(tile.dtype);
  if (size_of(tile.dtype) > 2 || (tile.tile_copy && (tile.tile_copy->panel || tile.tile_copy->swizzle_unit % row)))
    return {};
  UOp along;
  for (const Tile::TileDim& d : tile.dims)
    if (d.stride == 1 && d.stored_extent > 1)
      along = d.range;
    else if (d.stride % row)
      return {};
  const bool fits = along == depth || (along == across && size_of(tile.dtype) == 2);
  return tile.ring_slot_size % row == 0 && fits ? along : UOp();
}

UOp param_of(ir::Graph& g, const Tile& tile) {
  auto shape = ir::mapped<Shape>(tile.dims, [&](const Tile::TileDim& d) { return max_trip_count(d.range); });
  return ir::param(g, tile.slot, tile.dtype, shape);
}

std::vector<UOp> indices_of(const Tile& tile) { return ir::mapped(tile.dims, &Tile::TileDim::range); }

std::vector<UOp> user_indices_of(ir::Graph& g, const Tile& tile) {
  return ir::mapped(tile.dims, [&](const Tile::TileDim& d) { return d.window ? position_of(g, *d.window) : d.range; });
}

UOp insert_tiles(const Kernel& kernel, const LoopSchedule& schedule, std::vector<Tile>& tiles) {
  return schedule.materializations.empty() && schedule.tile_copies.empty() ? kernel.sink
                                                                           : TileBuilder(kernel, schedule, tiles).run();
}

}  // namespace sinter::codegen
