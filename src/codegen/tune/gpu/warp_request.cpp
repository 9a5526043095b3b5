#include "codegen/tune/gpu/warp_request.h"

#include <algorithm>

#include "codegen/tune/gpu/bank_conflicts.h"
#include "codegen/tune/gpu/gpu_clocks.h"
#include "ir/ceil_div.h"

namespace sinter::codegen {
namespace {

const ThreadLoop* innermost_over(const std::vector<ThreadLoop>& loops, UOp range) {
  const auto loop = std::find_if(loops.rbegin(), loops.rend(), [&](const ThreadLoop& t) { return t.range == range; });
  return loop == loops.rend() ? nullptr : &*loop;
}

/// element_at() for each thread of the first warp, in the first iteration of all loops.
std::optional<std::vector<int64_t>> elements_of_warp(const ir::LinearExpr& offset, const std::vector<ThreadLoop>& loops,
                                                     int threads) {
  std::vector<int64_t> at(static_cast<size_t>(std::min(kWarp, threads)));
  for (const ir::LinearTerm& t : offset.terms) {
    if (t.atom->op == ir::Op::Range) {
      if (const ThreadLoop* loop = innermost_over(loops, t.atom))
        for (size_t i = 0; i < at.size(); ++i) at[i] += t.factor * loop->offset(static_cast<int>(i));
      continue;
    }
    for (size_t i = 0; i < at.size(); ++i) {
      const std::optional<int64_t> value = index_at(t.atom, [&](UOp r) {
        const ThreadLoop* loop = innermost_over(loops, r);
        return loop ? loop->offset(static_cast<int>(i)) : 0;
      });
      if (!value) return {};
      at[i] += t.factor * *value;
    }
  }
  return at;
}

/// How many units of so many bytes a warp touches.
int64_t units_touched(const std::vector<int64_t>& at, AccessWidth width, int64_t start, int64_t unit,
                      std::vector<int64_t>& touched) {
  touched.clear();
  const int64_t whole = width.vector * width.bytes;
  for (const int64_t a : at)
    for (int64_t byte = 0; byte < whole; byte += std::min(kSector, whole))
      touched.push_back(ir::floor_div(start + a * width.bytes + byte, unit));
  std::ranges::sort(touched);
  return std::ranges::unique(touched).begin() - touched.begin();
}

}  // namespace

std::optional<int64_t> element_at(const ir::LinearExpr& offset, const std::function<int64_t(UOp)>& value_of_range) {
  int64_t sum = 0;
  for (const ir::LinearTerm& t : offset.terms) {
    const std::optional<int64_t> value = index_at(t.atom, value_of_range);
    if (!value) return {};
    sum += t.factor * *value;
  }
  return sum;
}

WarpRequest request_of(const ir::LinearExpr& offset, const std::vector<ThreadLoop>& loops, int threads,
                       AccessWidth width, std::span<const int64_t> starts) {
  const std::optional<std::vector<int64_t>> at = elements_of_warp(offset, loops, threads);
  const auto active = static_cast<double>(std::min(kWarp, threads));
  if (!at) return {active / kTagsPerPass, active};
  int64_t sectors = 0, lines = 0;
  std::vector<int64_t> touched;
  for (const int64_t start : starts) {
    sectors += units_touched(*at, width, start, kSector, touched);
    lines += units_touched(*at, width, start, kLine, touched);
  }
  const auto count = static_cast<double>(starts.size());
  // L1 has the banks of shared memory, and looks up a few lines at a time.
  const auto banks = static_cast<double>(bank_passes(*at, width.vector, width.bytes));
  return {std::max(banks, static_cast<double>(lines) / count / kTagsPerPass), static_cast<double>(sectors) / count};
}

WarpRequest request_of(const Tile& tile, const std::vector<ThreadLoop>& loops, int threads, AccessWidth width) {
  std::vector<int64_t> at;
  for (int i = 0; i < std::min(kWarp, threads); ++i) {
    int64_t row = 0, column = 0;
    for (const ThreadLoop& t : loops)
      for (size_t d = 0; d < tile.dims.size(); ++d)
        (d + 1 == tile.dims.size() ? column : row) += tile.dims[d].stride_along(t.range) * t.offset(i);
    if (tile.swizzle_period) {
      const TileCopy& copy = *tile.tile_copy;
      const int64_t pitch = std::max<int64_t>(tile.dims[tile.dims.size() - 2].stride, 1);
      const int64_t units = tile.swizzle_period / copy.swizzle_unit;
      column ^= ir::floor_mod(ir::floor_div(row, pitch * copy.swizzle_rows), units) * copy.swizzle_unit;
    }
    at.push_back(row + column);
  }
  return {static_cast<double>(bank_passes(at, width.vector, width.bytes)), 0};
}

}  // namespace sinter::codegen
