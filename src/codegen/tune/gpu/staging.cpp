#include "codegen/tune/gpu/staging.h"

#include <algorithm>
#include <limits>
#include <set>

#include "codegen/kernel/access.h"
#include "codegen/kernel/window.h"
#include "codegen/nest/tile_copy.h"
#include "codegen/tune/gpu/gpu_clocks.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "ir/ceil_div.h"
#include "ir/lists.h"
#include "ir/walk.h"
#include "rewrite/linear.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kMaxStagingRegisters = 16;  ///< registers of a thread that stage an operand, at most
constexpr int64_t kMaxFillCopies = 8;         ///< unrolled copies of a loop that fills
constexpr int64_t kMaxWindowCopies = 16;      ///< of all loops together that fill a tile of windows
constexpr int64_t kSchedulers = 4;            ///< of a multiprocessor: instructions issued while the banks make a pass

/// The values that a tile has: what a STORE stores.
DType dtype_of(UOp value) { return value->op == Op::Store ? value->src[0]->dtype : value->dtype; }

/// Whether a load of a value, or a STORE, is contiguous along a range.
bool is_contiguous_along(KernelAnalysis& analysis, UOp value, UOp range) {
  if (value->op == Op::Store) return analysis.stride(value, range) == 1;
  const std::vector<UOp> below = ir::topological(value);
  return std::ranges::any_of(below, [&](UOp n) { return n->op == Op::Load && analysis.stride(n, range) == 1; });
}

bool is_plain_access(UOp value) { return is_access(value) && !predicate_of(value); }

bool has_windows(const std::vector<StagedDim>& dims) {
  return std::ranges::any_of(dims, [](const StagedDim& d) { return bool(d.taps); });
}

/// The windows whose positions a dim of an access has, if it has such.
std::optional<Window> window_of(UOp access, const StagedDim& d) {
  FreeRanges ranges;
  return d.taps ? window_of(access, d.range, d.taps, ranges) : std::nullopt;
}

/// Elements between neighbors along a dim of an access.
int64_t stride_of(TuneSpace& space, UOp access, const StagedDim& d) {
  const std::optional<Window> window = window_of(access, d);
  return space.analysis.stride(access, d.range) / (window ? window->step : 1);
}

/// The same for all dims. 0 where it is not constant, and of another value than an access.
std::vector<int64_t> strides_of(TuneSpace& space, UOp value, const std::vector<StagedDim>& dims) {
  return ir::mapped(dims, [&](const StagedDim& d) {
    return is_access(value) && space.analysis.stride(value, d.range) != KernelAnalysis::kScattered
               ? stride_of(space, value, d)
               : 0;
  });
}

/// Dims in the order of a tile. Those from `first` to `last`, if these differ, are joined.
struct DimOrder {
  std::vector<StagedDim> dims;
  size_t first = 0, last = 0;
  bool has_joined_dims() const { return first < last; }
  bool has_joined(size_t i) const { return has_joined_dims() && i >= first && i <= last; }
  /// Values that the copying loop over a dim takes; 1: another loop takes them.
  int64_t extent(size_t i) const {
    if (!has_joined(i)) return dims[i].extent;
    int64_t all = 1;
    for (size_t d = first; i == last && d <= last; ++d) all *= dims[d].extent;
    return all;
  }
  size_t position_of(UOp range) const {
    return static_cast<size_t>(std::ranges::find(dims, range, &StagedDim::range) - dims.begin());
  }
};

/// Whether all blocks of a dim have as many values.
bool has_whole_blocks(TuneSpace& space, UOp access, const StagedDim& d) {
  const std::optional<Window> window = window_of(access, d);
  const int64_t block = window ? (d.extent - window->extent(1)) / window->step + 1 : d.extent;
  return has_static_size(d.range) && space.analysis.size(d.range) % block == 0;
}

/// The order in which the dims that lie one behind another in memory, from `near` outwards, are joined, in the place of
/// the first of them. Without joined dims if there is only one.
DimOrder joined_order(TuneSpace& space, UOp value, const std::vector<StagedDim>& dims, UOp near) {
  DimOrder out{dims};
  if (!near || !is_plain_access(value)) return out;
  std::vector<StagedDim> run;
  for (int64_t behind = 1; run.size() < dims.size(); behind *= run.front().extent) {
    const auto next = std::ranges::find_if(out.dims, [&](const StagedDim& d) {
      return stride_of(space, value, d) == behind && (!run.empty() || d.range == near) &&
             has_whole_blocks(space, value, d);
    });
    if (next == out.dims.end()) break;
    run.insert(run.begin(), *next);
    out.dims.erase(next);
  }
  if (run.size() < 2) return {dims};
  const auto in_run = [&](const StagedDim& d) {
    return std::ranges::any_of(run, [&](const StagedDim& r) { return r.range == d.range; });
  };
  out.first = static_cast<size_t>(std::ranges::find_if(dims, in_run) - dims.begin());
  out.last = out.first + run.size() - 1;
  out.dims.insert(out.dims.begin() + static_cast<std::ptrdiff_t>(out.first), run.begin(), run.end());
  return out;
}

/// The same with the dims that lie next to each other in memory innermost.
DimOrder turned(DimOrder order, size_t near) {
  if (order.first == order.last) order.first = order.last = near;
  const auto at = [&](size_t i) { return order.dims.begin() + static_cast<std::ptrdiff_t>(i); };
  std::rotate(at(order.first), at(order.last + 1), order.dims.end());
  const size_t by = order.dims.size() - 1 - order.last;
  order.first += by, order.last += by;
  return order;
}

/// How the threads that copy a tile are laid out.
struct FillShape {
  int64_t vectors = 1;  ///< adjacent elements of memory that may be copied together
  bool ragged = false;  ///< all threads copy along joined dims, some of them once more than the others
  int64_t across = 1;   ///< neighboring threads that store next to each other in the tile, and are rows apart in memory
};

/// Threads `across` the tile's last dim first, then along the contiguous dim, then along the others from the last to
/// the first.
void distribute(TileCopy& copy, const DimOrder& order, size_t near, int threads, const FillShape& shape) {
  std::vector<size_t> turns{near};
  for (size_t i = order.dims.size(); i-- > 0;)
    if (i != near) turns.push_back(i);
  if (shape.across > 1) std::swap(turns[0], *std::ranges::find(turns, order.dims.size() - 1));
  const bool windows = has_windows(order.dims);
  int64_t left = threads, stride = 1, most = windows ? kMaxWindowCopies : std::numeric_limits<int64_t>::max();
  for (const size_t i : turns) {
    TileCopy::CopyDim& d = copy.dims[i];
    const int64_t extent = order.extent(i);
    if (i == near)
      while (d.lanes * 2 <= shape.vectors && extent % (d.lanes * 2) == 0) d.lanes *= 2;
    int64_t count = std::min(shape.across > 1 && i == turns[0] ? shape.across : left, extent / d.lanes);
    const bool whole = !shape.ragged || !order.has_joined(i);
    while (left % count || (whole && extent / d.lanes % count)) --count;
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
int64_t vectors_of(TuneSpace& space, UOp value, const DimOrder& order, UOp near) {
  int64_t vectors = 16 / static_cast<int64_t>(size_of(dtype_of(value)));
  const size_t at = order.position_of(near);
  if (order.has_joined(at)) {
    const auto joined = [&](UOp r) {
      for (size_t i = order.first; i <= order.last; ++i)
        if (order.dims[i].range == r || order.dims[i].taps == r) return true;
      return false;
    };
    for (UOp n : ir::topological(value))
      if (n->op == Op::Range && !joined(n)) {
        const int64_t stride = space.analysis.stride(value, n);
        while (vectors > 1 && (stride == KernelAnalysis::kScattered || stride % vectors)) vectors /= 2;
      }
    return vectors;
  }
  const bool window = at < order.dims.size() && order.dims[at].taps;
  if (window && !is_plain_access(value)) return 1;
  const int64_t row = window ? order.dims[at].extent : space.analysis.size(near);
  while (row % vectors) vectors /= 2;
  return vectors;
}

/// Tries layouts of one order of dims.
class LayoutSearch {
 public:
  /// `strides`: of the dims in memory.
  void run(TileCopy copy, const DimOrder& order, DType dtype, const std::vector<int64_t>& strides) {
    const std::vector<StagedDim>& dims = order.dims;
    fill_.clear();
    read_.clear();
    fills_ = reads_ = 1;
    int64_t rows = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
      const TileCopy::CopyDim& d = copy.dims[i];
      const StagedDim& s = dims[i];
      fill_.push_back({s.extent, d.lanes, d.threads, d.stride});
      fills_ *= ceil_div(order.extent(i), int64_t{1} * d.lanes * d.threads);
      read_.push_back({s.extent, s.read.lanes, s.read.threads, s.read.stride});
      reads_ *= s.read.range ? s.read.unroll : s.extent;
      rows *= s.extent;
    }
    request_ = clocks_of_request(strides, static_cast<int64_t>(size_of(dtype)));
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
    if (has_windows(dims) || order.has_joined_dims()) return;  // they lie in plain rows
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
    const auto clocks = [&](int64_t times, const std::vector<ThreadWalk>& walks) {
      const BankAccess each = bank_access(layout, dtype, walks);
      return times * (kSchedulers * each.passes + each.instructions);
    };
    const int64_t fill = clocks(fills_, fill_) + fills_ * (1 + request_);
    if (fill >= fewest_) return;
    const int64_t all = fill + clocks(reads_, read_);
    if (all >= fewest_) return;
    fewest_ = all;
    best = layout;
  }

  /// What a warp's request to memory takes: L1 looks up four lines while the banks make a pass, and L2 sends two
  /// sectors.
  int64_t clocks_of_request(const std::vector<int64_t>& strides, int64_t bytes) const {
    std::set<int64_t> lines, sectors;
    for (int t = 0; t < kWarp; ++t) {
      int64_t element = 0, lanes = 1;
      for (size_t d = 0; d < strides.size(); ++d) {
        element += strides[d] * first_of(fill_[d], t);
        lanes = std::max<int64_t>(lanes, fill_[d].lanes);
      }
      for (int64_t at = element * bytes; at < (element + lanes) * bytes; at += bytes) {
        lines.insert(ir::floor_div(at, kLine));
        sectors.insert(ir::floor_div(at, kSector));
      }
    }
    return static_cast<int64_t>(lines.size() + sectors.size() * kSchedulers / 2);
  }

  std::vector<ThreadWalk> fill_, read_;
  int64_t fills_ = 1, reads_ = 1;
  int64_t request_ = 1;  ///< what memory takes for a warp's request of a fill
  int64_t fewest_ = std::numeric_limits<int64_t>::max();
};

}  // namespace

std::optional<TileCopy> stage_value(TuneSpace& space, UOp value, const std::vector<StagedDim>& dims, int threads,
                                    bool may_join) {
  const int number = node_index_of(space.kernel, value);
  if (number < 0 || dims.empty()) return std::nullopt;
  UOp near;  // along which memory is contiguous
  for (const StagedDim& d : dims)
    if (is_contiguous_along(space.analysis, value, d.range)) near = d.range;
  const UOp along = near ? near : dims.back().range;
  LayoutSearch search;
  const auto consider = [&](const DimOrder& order, bool ragged) {
    TileCopy copy{number, {}};
    for (size_t i = 0; i < order.dims.size(); ++i) {
      const StagedDim& d = order.dims[i];
      copy.dims.push_back({range_id(d.range), d.level});
      if (d.taps) copy.dims.back().taps = range_id(d.taps);
      copy.dims.back().joined = order.has_joined(i) && i < order.last;
    }
    const size_t at = order.position_of(along);
    const int64_t vectors = vectors_of(space, value, order, along);
    // So many rows that a warp still reads whole sectors of each.
    const int64_t rows =
        at + 1 < order.dims.size() ? kWarp * vectors * static_cast<int64_t>(size_of(dtype_of(value))) / kSector : 1;
    for (const int64_t across : std::set<int64_t>{1, near ? rows : 1}) {
      TileCopy filled = copy;
      distribute(filled, order, at, threads, {vectors, ragged, across});
      search.run(filled, order, dtype_of(value), strides_of(space, value, order.dims));
    }
  };
  std::vector<DimOrder> orders{{dims}};
  if (may_join)
    if (const DimOrder joined = joined_order(space, value, dims, near); joined.has_joined_dims())
      orders.push_back(joined);
  for (const DimOrder& order : orders) {
    const size_t at = order.position_of(along);
    for (const bool ragged : {false, true}) {
      if (ragged && !order.has_joined_dims()) continue;
      consider(order, ragged);
      if (near && at + 1 < order.dims.size()) consider(turned(order, at), ragged);
    }
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
  const DimOrder stored{dims};
  distribute(copy, stored, dims.size() - 1, threads, {vectors_of(space, value, stored, near)});
  const auto row = static_cast<int>(16 / size_of(value->dtype));
  if (dims.back().extent % row == 0) {  // eight threads name the rows of a matrix, and a warp reads four at once
    StagedDim& rows = dims[dims.size() - 2];
    const auto twos = [](int64_t matrices) { return static_cast<int>(std::max<int64_t>(matrices / 2, 1)); };
    dims.back().read = {near, row, twos(dims.back().extent / row)};
    rows.read = {rows.range, 1, twos(rows.extent / 8), 8, 1};
  }
  LayoutSearch search;
  search.run(copy, {dims}, value->dtype, strides_of(space, value, dims));
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
