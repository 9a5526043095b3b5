#include "codegen/tune/gpu/staging.h"

#include <algorithm>
#include <limits>

#include "codegen/kernel/access.h"
#include "codegen/nest/tile_copy.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "ir/ceil_div.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kMaxStagingRegisters = 16;  ///< registers of a thread that stage an operand, at most
constexpr int64_t kMaxFillCopies = 8;         ///< unrolled copies of a loop that fills
constexpr int64_t kMaxWindowCopies = 16;      ///< of all loops together that fill a tile of windows

/// Whether a load of a value is contiguous along a range.
bool is_contiguous_along(KernelAnalysis& analysis, UOp value, UOp range) {
  const std::vector<UOp> below = ir::topological(value);
  return std::ranges::any_of(below, [&](UOp n) { return n->op == Op::Load && analysis.stride(n, range) == 1; });
}

bool has_windows(const std::vector<StagedDim>& dims) {
  return std::ranges::any_of(dims, [](const StagedDim& d) { return bool(d.taps); });
}

/// Threads along the contiguous range first, then along the others from the last to the first. `vectors`: adjacent
/// elements that may be copied together.
void distribute(TileCopy& copy, const std::vector<StagedDim>& dims, UOp near, int64_t vectors, int threads) {
  std::vector<size_t> order(dims.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  const auto first = std::ranges::find_if(order, [&](size_t i) { return dims[i].range == near; });
  if (first != order.end()) std::rotate(order.begin(), first, first + 1);
  const bool windows = has_windows(dims);
  int64_t left = threads, stride = 1, most = windows ? kMaxWindowCopies : std::numeric_limits<int64_t>::max();
  for (const size_t i : order) {
    TileCopy::CopyDim& d = copy.dims[i];
    const int64_t extent = dims[i].extent;
    if (dims[i].range == near)
      while (d.lanes * 2 <= vectors && extent % (d.lanes * 2) == 0) d.lanes *= 2;
    int64_t count = std::min(left, extent / d.lanes);
    while (left % count || extent / d.lanes % count) --count;
    d.threads = static_cast<int>(count);
    d.stride = count > 1 ? static_cast<int>(stride) : 1;
    left /= count;
    stride *= count;
    const int64_t copies = extent / (d.lanes * count);
    int64_t together = std::min({copies, kMaxFillCopies, most});
    while (copies % together) --together;
    d.unroll = static_cast<int>(together);
    most /= together;
  }
}

/// The most adjacent elements of a row of up to 16 bytes that begin at whole vectors in each row. What does not is
/// copied element by element, as is what a border may cut.
int64_t vectors_of(TuneSpace& space, UOp value, const std::vector<StagedDim>& dims, UOp near) {
  const auto dim = std::ranges::find_if(dims, [&](const StagedDim& d) { return d.range == near; });
  const bool window = dim != dims.end() && dim->taps;
  if (window && !(value->op == Op::Load && !predicate_of(value))) return 1;
  const int64_t row = window ? dim->extent : space.analysis.size(near);
  int64_t vectors = 16 / static_cast<int64_t>(size_of(value->dtype));
  while (row % vectors) vectors /= 2;
  return vectors;
}

/// Tries layouts of one order of dims.
class LayoutSearch {
 public:
  void run(TileCopy copy, const std::vector<StagedDim>& dims, DType dtype) {
    fill_.clear();
    read_.clear();
    fills_ = reads_ = 1;
    int64_t rows = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
      const TileCopy::CopyDim& d = copy.dims[i];
      const StagedDim& s = dims[i];
      fill_.push_back({s.extent, d.lanes, d.threads, d.stride});
      fills_ *= ceil_div(s.extent, int64_t{1} * d.lanes * d.threads);
      read_.push_back({s.extent, s.read.lanes, s.read.threads, s.read.stride});
      reads_ *= s.read.range ? s.read.unroll : s.extent;
      rows *= s.extent;
    }
    const int64_t columns = dims.back().extent;
    rows /= columns;
    consider(copy, dtype);
    if (rows == 1) return;
    const int vector = std::max(fill_.back().lanes, read_.back().lanes);
    for (const int pad : {static_cast<int>(16 / size_of(dtype)), 1}) {
      copy.pad = pad;
      if (pad % vector == 0) consider(copy, dtype);
    }
    copy.pad = 0;
    if (has_windows(dims)) return;  // they lie in plain rows
    const int64_t period = swizzle_period(columns, dtype);
    if (columns % period) return;
    copy.swizzle_rows = 1;
    while (copy.swizzle_rows < rows) copy.swizzle_rows *= 2;
    for (; copy.swizzle_rows >= 1; copy.swizzle_rows /= 2)  // fewer distinct permutations take less arithmetic
      for (copy.swizzle_unit = vector; copy.swizzle_unit < period; copy.swizzle_unit *= 2) consider(copy, dtype);
  }

  std::optional<TileCopy> best;

 private:
  void consider(const TileCopy& layout, DType dtype) {
    const int64_t passes = fills_ * bank_passes(layout, dtype, fill_) + reads_ * bank_passes(layout, dtype, read_);
    if (passes >= fewest_) return;
    fewest_ = passes;
    best = layout;
  }

  std::vector<ThreadWalk> fill_, read_;
  int64_t fills_ = 1, reads_ = 1;
  int64_t fewest_ = std::numeric_limits<int64_t>::max();
};

}  // namespace

std::optional<TileCopy> stage_value(TuneSpace& space, UOp value, std::vector<StagedDim> dims, int threads) {
  const int number = node_index_of(space.kernel, value);
  if (number < 0 || dims.empty()) return std::nullopt;
  UOp near;  // along which memory is contiguous
  for (const StagedDim& d : dims)
    if (is_contiguous_along(space.analysis, value, d.range)) near = d.range;
  LayoutSearch search;
  for (const bool turned : {false, true}) {
    if (turned) {
      if (!near || near == dims.back().range) continue;
      const auto at = std::ranges::find_if(dims, [&](const StagedDim& d) { return d.range == near; });
      std::rotate(at, at + 1, dims.end());
    }
    TileCopy copy{number, {}};
    for (const StagedDim& d : dims) {
      copy.dims.push_back({range_id(d.range), d.level});
      if (d.taps) copy.dims.back().taps = range_id(d.taps);
    }
    const UOp along = near ? near : dims.back().range;
    distribute(copy, dims, along, vectors_of(space, value, dims, along), threads);
    search.run(copy, dims, value->dtype);
  }
  return search.best;
}

std::optional<TileCopy> stage_matrices(TuneSpace& space, UOp value, std::vector<StagedDim> dims, int threads) {
  const int number = node_index_of(space.kernel, value);
  if (number < 0) return std::nullopt;
  // What is contiguous in memory stays so, for copies of whole vectors.
  for (size_t i = 0; i + 1 < dims.size(); ++i)
    if (is_contiguous_along(space.analysis, value, dims[i].range)) {
      std::rotate(dims.begin() + static_cast<std::ptrdiff_t>(i), dims.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                  dims.end());
      break;
    }
  const UOp near = dims.back().range;
  TileCopy copy{number, {}};
  for (const StagedDim& d : dims) copy.dims.push_back({range_id(d.range), d.level});
  distribute(copy, dims, near, vectors_of(space, value, dims, near), threads);
  const auto row = static_cast<int>(16 / size_of(value->dtype));
  if (dims.back().extent % row == 0) {  // eight threads name the rows of a matrix, and a warp reads four at once
    StagedDim& rows = dims[dims.size() - 2];
    const auto twos = [](int64_t matrices) { return static_cast<int>(std::max<int64_t>(matrices / 2, 1)); };
    dims.back().read = {near, row, twos(dims.back().extent / row)};
    rows.read = {rows.range, 1, twos(rows.extent / 8), 8, 1};
  }
  LayoutSearch search;
  search.run(copy, dims, value->dtype);
  return search.best;
}

std::optional<TileCopy> with_ring(TileCopy copy, const std::vector<StagedDim>& dims) {
  int64_t held = 1;
  for (TileCopy::CopyDim& d : copy.dims) {
    const auto dim = std::ranges::find_if(dims, [&](const StagedDim& s) { return range_id(s.range) == d.range; });
    d.unroll = static_cast<int>(dim->extent / (int64_t{1} * d.lanes * d.threads));
    held *= int64_t{1} * d.lanes * d.unroll;
  }
  copy.slots = 2;
  return held <= kMaxStagingRegisters ? std::optional(copy) : std::nullopt;
}

}  // namespace sinter::codegen
