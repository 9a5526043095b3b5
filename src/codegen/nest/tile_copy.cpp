// The level of each dim determines what a tile covers: all positions of a block. The fill is nested in the user's loops
// around that block.
#include "codegen/nest/tile_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codegen/kernel/offset.h"
#include "codegen/nest/joined_dims.h"
#include "ir/build.h"
#include "ir/ceil_div.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

constexpr int kMaxSlots = 8;

/// Whether each task has a single value of the range.
bool has_one_value(const LoopAxis& a) { return one_trip(a.range) || a.single(); }

/// Maximum number of positions along a dim of the tile.
int64_t extent_of(const LoopSchedule& schedule, const LoopAxis& a, int level) {
  const int64_t all = max_trip_count(a.range);
  if (a.window) return a.window->extent(extent_of(schedule, schedule.of(a.window->along), level));
  if (level >= 0) return std::min(all, a.steps[level]);
  return a.outer() ? std::min(all, a.block) : all;
}

void require_plain(UOp value, const std::string& opt) {
  if (value->op == Op::Range || value->op == Op::Param || value->dtype == DType::Void) refuse(opt, "it is not a value");
  for (UOp n : ir::topological(value)) {
    if (has_accumulators(n)) refuse(opt, "it contains a reduction; materialize keeps those");
    if (n->op == Op::Check)
      refuse(opt, "it contains an index check, which could fail where the program does not use the index");
  }
}

/// Checks padding or swizzle, which need more than one row, and sets Tile::swizzle_period.
void lay_out_rows(Tile& tile, const std::string& opt) {
  const TileCopy& s = *tile.tile_copy;
  if (s.pad == 0 && s.swizzle_unit == 0) return;
  if ((s.pad != 0) + (s.swizzle_unit != 0) + (s.panel != 0) > 1)
    refuse(opt, "a tile has panels, padding or swizzle, one of them");
  if (s.dims.size() < 2) refuse(opt, "a tile of one row has no bank conflicts");
  if (s.pad < 0) refuse(opt, "the padding is negative");
  if (s.swizzle_unit == 0) return;
  const int64_t row = tile.dims.back().stored_extent;
  tile.swizzle_period = swizzle_period(row, tile.dtype);
  if (s.swizzle_unit < 1 || s.swizzle_unit >= tile.swizzle_period || tile.swizzle_period % s.swizzle_unit ||
      row % tile.swizzle_period)
    refuse(opt, fmt::format("units of {} elements do not fit rows of {}", s.swizzle_unit, row));
  if (s.swizzle_rows < 1) refuse(opt, "a swizzle repeats after 1 or more rows");
}

/// Adds slots for the next blocks of the one loop whose blocks the copy covers. Loops around it begin the ring anew.
/// Without asynchronous copies a thread holds what it copies in registers while the current block is in use, so it must
/// copy within one iteration of its loops.
void add_ring_slots(Tile& tile, const LoopSchedule& schedule, const std::string& opt) {
  const int slots = tile.tile_copy->slots, most = tile.tile_copy->async ? kMaxSlots : 2;
  if (slots < 2 || slots > most) refuse(opt, fmt::format("a tile has 1 to {} slots", most));
  auto covers = [&](const Tile::TileDim& d) {
    const auto copied = [&](const TileCopy::CopyDim& c) { return schedule.of(c).range == d.range; };
    return d.level >= 0 && !has_one_value(schedule.of(d.block_range())) &&
           std::ranges::any_of(tile.tile_copy->dims, copied);
  };
  if (std::ranges::count_if(tile.dims, covers) != 1)
    refuse(opt, "ring slots rotate with the blocks of exactly one loop");
  tile.ring_dim = static_cast<size_t>(std::ranges::find_if(tile.dims, covers) - tile.dims.begin());
  if (tile.dims[tile.ring_dim].window) refuse(opt, "slots hold no overlapping windows");
  for (const TileCopy::CopyDim& d : tile.tile_copy->dims) {
    const LoopAxis& axis = schedule.of(d);
    const int64_t together = int64_t{1} * d.lanes * d.threads;
    if (tile.tile_copy->async) continue;
    if (extent_of(schedule, axis, d.level) > together * d.unroll || (axis.size == 0 && together == 1 && d.unroll > 1))
      refuse(opt, fmt::format("the copy of range {} takes more than one iteration", d.range));
  }
  tile.ring_slot_size = tile.size;
  tile.size *= slots;
}

/// Of the copied dims, the first whose loop goes inside the loop along the last dim; the last one if none does. A dim
/// with unrolled copies, which are transposed with the lanes, is contiguous in the source. With the dims that continue
/// it there it is innermost, so that the hardware prefetcher follows it; but a run of `kLongRun` values needs no more.
/// Weights of a 3 x 3 convolution would otherwise be read by 3 values, each time from a row of another channel.
size_t first_transposed(const Tile& tile, FreeRanges& ranges) {
  constexpr int64_t kLongRun = 256;
  const std::vector<TileCopy::CopyDim>& copied = tile.tile_copy->dims;
  const auto transposed = [](const TileCopy::CopyDim& d) { return d.unroll > 1 && d.threads == 1; };
  size_t first = static_cast<size_t>(std::find_if(copied.begin(), copied.end() - 1, transposed) - copied.begin());
  if (first == copied.size() - 1) return first;
  const auto dim = [&](size_t d) { return tile.dims[tile.dims.size() - copied.size() + d]; };
  for (UOp n : ir::topological(tile.fill->src.back())) {
    if (n->op != Op::Load) continue;
    const ir::LinearExpr offset = offset_of(n);
    int64_t run = dim(first).stored_extent;
    if (stride_along(offset, dim(first).range, ranges) != 1) continue;
    while (first > 0 && run < kLongRun && stride_along(offset, dim(first - 1).range, ranges) == run)
      run *= dim(--first).stored_extent;
    break;
  }
  return first;
}

}  // namespace

bool has_whole_blocks(const LoopSchedule& schedule, const Tile::TileDim& d) {
  const LoopAxis& a = schedule.of(d.block_range());
  const int64_t block = d.level >= 0 ? a.steps[static_cast<size_t>(d.level)] : a.outer() ? a.block : a.size;
  return a.size && ((d.level < 0 && a.whole()) || a.size % block == 0);
}

int64_t swizzle_period(int64_t row, DType dtype) {
  constexpr int64_t kBanks = 128;  // bytes
  const int64_t most = std::min(row, kBanks / static_cast<int64_t>(size_of(dtype)));
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
}

Tile make_copy_tile(int64_t slot, UOp value, const TileCopy& copy, const LoopSchedule& schedule, FreeRanges& ranges) {
  const std::string opt = to_string(copy);
  const bool results = value->op == Op::Store;
  if (!results) require_plain(value, opt);
  Tile tile{slot, results ? value->src[0]->dtype : value->dtype, {}, 1};
  tile.tile_copy = copy;
  for (const LoopAxis& a : schedule.axes) {
    if (!ranges.depends(value, a.range) || a.size == 1) continue;
    const auto copied = [&](const TileCopy::CopyDim& d) { return schedule.of(d).range == a.range; };
    if (std::ranges::any_of(copy.dims, copied)) continue;
    if (!has_one_value(a) && a.width() > 1)
      refuse(opt, fmt::format("the value also depends on range {}, which has lanes, threads or is unrolled",
                              range_id(a.range)));
    tile.dims.push_back({a.range, a.levels() - 1, 1, 0});
  }
  for (size_t i = 0; i < copy.dims.size(); ++i) {
    const TileCopy::CopyDim& d = copy.dims[i];
    const LoopAxis& a = schedule.of(d);
    if (!ranges.depends(value, a.range)) refuse(opt, fmt::format("the value does not depend on range {}", d.range));
    if (std::ranges::any_of(tile.dims, [&](const Tile::TileDim& t) { return t.range == a.range; }))
      refuse(opt, fmt::format("range {} has a dim already, or one value for each task", d.range));
    const int64_t extent = extent_of(schedule, a, d.level);
    const int64_t block = a.window       ? extent < a.size ? extent : 0
                          : d.level >= 0 ? a.steps[d.level]
                          : !a.whole()   ? a.block
                                         : 0;
    const bool alone = !d.joined && first_joined(copy, i) == i;
    if (alone && block % (int64_t{1} * d.lanes * d.unroll * d.threads))
      refuse(opt, fmt::format("range {}: a block of {} is not a multiple of threads x lanes x unroll", d.range, block));
    tile.dims.push_back({a.range, d.level, extent, 0, a.window});
    if (a.window && (copy.panel || copy.swizzle_unit)) refuse(opt, "windows lie in plain rows");
    if (alone && block && a.window && d.lanes * d.unroll * d.threads > 1 &&
        !has_whole_blocks(schedule, tile.dims.back()))
      refuse(opt, "windows of a shorter last block are copied one by one, as the steps of a block begin anywhere");
    // A warp reads whole tiles of tensor cores, also where the range ends inside one.
    if (!(a.warp == WarpDigits{})) tile.dims.back().stored_extent = round_up(tile.dims.back().stored_extent, a.width());
  }
  if (copy.dims.empty()) refuse(opt, "a tile of one element");
  if (std::ranges::count_if(copy.dims, [](const TileCopy::CopyDim& d) { return d.lanes > 1; }) > 1)
    refuse(opt, "a copy has lanes along one range only");
  // The tile holds whole vectors and panels, whatever the size of the range.
  Tile::TileDim& last = tile.dims.back();
  const size_t others = tile.dims.size() - copy.dims.size();  // dims that are not copied
  const size_t row = others + first_joined(copy, copy.dims.size() - 1);
  if (row + 1 == tile.dims.size())
    last.stored_extent = round_up(last.stored_extent, std::max(copy.dims.back().lanes, 1));
  if (copy.panel) last.stored_extent = round_up(last.stored_extent, copy.panel);
  const int64_t together = copy.panel ? copy.panel : last.stored_extent;
  lay_out_rows(tile, opt);
  for (size_t d = tile.dims.size(); d-- > 0 && tile.size <= kLargestTile;) {
    Tile::TileDim& dim = tile.dims[d];
    const bool walked = dim.stored_extent > 1 || (d >= others && first_joined(copy, d - others) < d - others);
    if (d + 1 == tile.dims.size() || walked) dim.stride = tile.size;
    tile.size *= d + 1 == tile.dims.size() ? together : dim.stored_extent;
    if (d == row) tile.size += copy.pad;
  }
  tile.panel_stride = tile.size;
  if (copy.panel) tile.size *= last.stored_extent / together;
  if (copy.async && (copy.slots == 1 || value->op != Op::Load || schedule.threads == 1))
    refuse(opt, "threads of a block copy loads to the slots of a ring asynchronously, nothing else");
  if (copy.slots != 1) add_ring_slots(tile, schedule, opt);
  if (tile.size > kLargestTile) refuse(opt, "the tile would be too large");
  require_contiguous(tile, value, schedule, ranges);
  return tile;
}

std::vector<LoopLevel> fill_loops(const Tile& tile, const std::vector<LoopLevel>& user, const LoopSchedule& schedule,
                                  FreeRanges& ranges) {
  size_t shared = 0;
  for (const Tile::TileDim& d : tile.dims) {
    const LoopAxis& blocks = schedule.of(d.block_range());
    if (d.level < 0 || has_one_value(blocks)) continue;
    const auto block = std::ranges::find_if(
        user, [&](const LoopLevel& l) { return l.range == blocks.range && l.number == d.level && !l.fills; });
    if (block == user.end())
      refuse(to_string(*tile.tile_copy),
             fmt::format("a user has no loop {} of range {} outside", d.level, range_id(blocks.range)));
    if (d.level + 1 == blocks.levels() && block->width() > 1)
      refuse(to_string(*tile.tile_copy),
             fmt::format("a user's loop over range {} steps by {}", range_id(blocks.range), block->width()));
    shared = std::max(shared, static_cast<size_t>(block - user.begin()) + 1);
  }
  if (tile.ring_slot_size) {
    const Tile::TileDim& ring = tile.dims[tile.ring_dim];
    if (!(user[shared - 1].range == ring.range) || user[shared - 1].number != ring.level)
      refuse(to_string(*tile.tile_copy),
             fmt::format("it is filled inside the loop over blocks of range {}", range_id(ring.range)));
  }
  std::vector<LoopLevel> loops(user.begin(), user.begin() + static_cast<std::ptrdiff_t>(shared));
  const std::vector<TileCopy::CopyDim>& copied = tile.tile_copy->dims;
  for (size_t i = 0; i < copied.size(); ++i) {
    const TileCopy::CopyDim& d = copied[i];
    const LoopAxis& a = schedule.of(d);
    LoopLevel level{a.range, a.levels() - 1, d.lanes, d.unroll, d.threads, d.threads > 1 ? d.stride : 1};
    level.fills = true;
    level.covers = d.level;
    level.joined_values = joined_values(tile, i);
    loops.push_back(level);
  }
  const bool joined = std::ranges::any_of(copied, &TileCopy::CopyDim::joined);
  if (const LoopLevel& last = loops.back(); last.lanes > 1 && last.threads == 1 && tile.fill && !joined)
    std::rotate(loops.begin() + static_cast<std::ptrdiff_t>(shared + first_transposed(tile, ranges)), loops.end() - 1,
                loops.end());
  return loops;
}

size_t shared_loops(const std::vector<LoopLevel>& fill) {
  return static_cast<size_t>(std::ranges::find_if(fill, [](const LoopLevel& l) { return l.fills; }) - fill.begin());
}

void require_layout(const Tile& tile, const std::vector<LoopLevel>& user) {
  const int panel = tile.tile_copy->panel, unit = tile.tile_copy->swizzle_unit;
  for (const LoopLevel& l : user) {
    if (!(l.range == tile.dims.back().range) || !(l.fills || l.number > tile.dims.back().level)) continue;
    if (panel && (l.threaded() || panel % l.width()))  // unrolled copies contiguous in memory are one access
      refuse(to_string(*tile.tile_copy), fmt::format("panels of {} do not fit {}", panel, to_string(l)));
    if (unit % l.lanes)
      refuse(to_string(*tile.tile_copy), fmt::format("swizzle units of {} do not fit {}", unit, to_string(l)));
  }
}

}  // namespace sinter::codegen
