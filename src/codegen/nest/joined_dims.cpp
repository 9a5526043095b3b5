// Strides decide: that of each joined dim is the stride of the last one, times the elements of the dims after it.
#include "codegen/nest/joined_dims.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "codegen/kernel/access.h"
#include "codegen/kernel/offset.h"
#include "codegen/nest/tile_copy.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

/// A copied dim of a tile: those of other ranges stand before them.
const Tile::TileDim& dim_of(const Tile& tile, size_t copied) {
  return tile.dims[tile.dims.size() - tile.tile_copy->dims.size() + copied];
}

/// Throws unless the loads of a value have such strides, and nothing else in it depends on the dims. Of a STORE, only
/// its own elements count.
void require_strides(std::span<const Tile::TileDim> dims, UOp value, FreeRanges& ranges, const std::string& opt) {
  const auto depends = [&](UOp n) {
    return std::ranges::any_of(dims, [&](const Tile::TileDim& d) { return ranges.depends(n, d.range); });
  };
  for (UOp n : ir::topological(std::span<const UOp>(&value, 1), [](UOp n) { return !is_access(n); })) {
    if (n->op == Op::Range && depends(n)) refuse(opt, "the value depends on joined dims not through loads alone");
    if (!is_access(n)) continue;
    if (n->op == Op::Load && predicate_of(n) && (depends(predicate_of(n)) || depends(other_of(n))))
      refuse(opt, "a load has a predicate along joined dims");
    const ir::LinearExpr offset = offset_of(n);
    const std::optional<int64_t> stride = stride_along(offset, dims.back().range, ranges);
    int64_t behind = 1;  // elements of the dims after this one
    for (size_t d = dims.size(); d-- > 0; behind *= dims[d].stored_extent)
      if (!stride || stride_along(offset, dims[d].range, ranges) != *stride * behind)
        refuse(opt, fmt::format("the elements of joined dims do not lie one behind another along range {}",
                                range_id(dims[d].range)));
  }
}

}  // namespace

size_t first_joined(const TileCopy& copy, size_t last) {
  while (last > 0 && copy.dims[last - 1].joined) --last;
  return last;
}

int64_t joined_values(const Tile& tile, size_t dim) {
  const TileCopy& copy = *tile.tile_copy;
  if (copy.dims[dim].joined) return 1;
  const size_t first = first_joined(copy, dim);
  int64_t all = first < dim;  // 0: it is joined with none
  for (size_t d = first; d <= dim; ++d) all *= dim_of(tile, d).stored_extent;
  return all;
}

void require_contiguous(const Tile& tile, UOp value, const LoopSchedule& schedule, FreeRanges& ranges) {
  const TileCopy& copy = *tile.tile_copy;
  const std::string opt = to_string(copy);
  for (size_t last = 0; last < copy.dims.size(); ++last) {
    const size_t first = first_joined(copy, last);
    if (copy.dims[last].joined || first == last) continue;
    if (copy.panel || copy.swizzle_unit || copy.slots != 1)
      refuse(opt, "joined dims have neither panels nor swizzle nor slots");
    const std::span<const Tile::TileDim> dims(&dim_of(tile, first), last - first + 1);
    for (const Tile::TileDim& d : dims) {
      if (!(schedule.of(d.range).warp == WarpDigits{})) refuse(opt, "joined dims are no rows of tensor cores");
      if (!has_whole_blocks(schedule, d)) refuse(opt, "joined dims have whole blocks of known sizes");
    }
    require_strides(dims, value, ranges, opt);
  }
}

}  // namespace sinter::codegen
