// Which loads are worth a prefetch. Elementwise kernels gain nothing on Zen 5, and lose if the lines are in the last
// cache. Where that is large and far, a single operand from memory gains; two or more do not, because they wait for
// memory anyhow. Zen 5 does not predict loads under masks at all: depthwise windows of 3 x 3 with a border take 0.4 of
// the time with prefetch. Without masks, lanes under predicates are read one by one: on Zen 1 these windows take 0.93
// of the time without prefetch. Rows that are transposed in registers, eight at a time, are read in halves of lines,
// which no core predicts.
//
// On Granite Rapids only the second of several loops over a row should prefetch: the first one waits for its own
// elements. Rows that do not follow each other were not measured.
#include "codegen/tune/heuristic/steps.h"

#include <algorithm>
#include <optional>

#include "codegen/emit/register_transpose.h"
#include "codegen/tune/heuristic/operand_analysis.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kDistance = 2 * runtime::kPage;  ///< bytes; shorter and longer distances gain less
/// Bytes, for data that one loop reads if the last cache is far. On Granite Rapids, a chain from memory takes 0.84 of
/// the time of kDistance.
constexpr int64_t kOneLoopDistance = 2048;
/// Bytes, for rows that are transposed in registers. On Zen 3, 1.5 to 4 KB ahead, rows of 12 to 56 take 0.7 to 0.97 of
/// the time without prefetch.
constexpr int64_t kTransposedRowsDistance = 2048;
/// Bytes of a row up to which the second loop prefetches one page ahead. On Granite Rapids, rows of 1024 then take
/// 0.78 of the time (softmax). With rows of 16384 they take 1.5: the first loop has already read what is a page ahead.
constexpr int64_t kMaxFirstLoopBytes = 2 * runtime::kPage;
/// Bytes of a row from which few prefetches fall beyond its end.
constexpr int64_t kMinLongRowBytes = 4 * kDistance;

class StreamPrefetcher {
 public:
  StreamPrefetcher(const Kernel& kernel, KernelAnalysis& analysis, const std::vector<RangeWidth>& widths,
                   const runtime::Target& target)
      : kernel_(kernel), analysis_(analysis), widths_(widths), target_(target) {}

  std::optional<Prefetch> stream_prefetch_of(UOp load) {
    const auto bytes = static_cast<int64_t>(size_of(load->dtype));
    // The range of the lanes, that of the nearest next row, and the innermost one that moves the load.
    UOp lanes, next, innermost;
    int64_t apart = 1;  // elements from lane to lane
    bool copies = false;
    for (UOp r : analysis_.ranges()) {
      if (!analysis_.depends(load, r)) continue;
      const int64_t stride = analysis_.stride(load, r);
      const RangeWidth width = width_of(widths_, r);
      innermost = r;
      if (width.lanes > 1 && stride >= 1 && stride <= kWidestStride) {
        lanes = r;
        apart = stride;
        continue;
      }
      if (stride == KernelAnalysis::kScattered && width.unroll < analysis_.size(r))
        return {};  // unless it is unrolled completely, its addresses are unknown
      copies |= width.total() > 1;
      if (stride > apart && (!next || stride <= analysis_.stride(load, next)))
        next = r;  // a gradient's windows also go backwards
    }
    if (!lanes) return {};
    const bool masked = analysis_.is_masked_along(load, lanes);
    if (masked && !target_.has_masked_loads(size_of(load->dtype)))
      return {};  // each lane would be prefetched by itself
    if (!masked && (copies || apart > 1 || !(lanes == innermost))) return {};
    if (!far_exceeds_l2(analysis_, load, target_)) return {};
    const int number = node_index_of(kernel_, load);
    const int64_t row = apart * analysis_.size(lanes);
    if (!next || analysis_.stride(load, next) <= row || row * bytes >= kMinLongRowBytes) {
      const auto [distance, loop] = distance_and_loop(load);
      return Prefetch{number, range_id(lanes), distance / (bytes * apart), loop};
    }
    return Prefetch{number, range_id(next), std::max<int64_t>(1, kDistance / (row * bytes))};
  }

 private:
  /// The distance in bytes, and the loop that prefetches, for data that is read row by row.
  std::pair<int64_t, int> distance_and_loop(UOp load) const {
    if (target_.near_l3) return {kDistance, -1};
    std::vector<UOp> first;  // what reads it in the first loop, and what depends on that
    int64_t bytes = 0;       // bytes that the first loop reads
    for (const StatementAnalysis& w : analysis_.statements()) {
      const bool reads = contains(w.accesses, load);
      const bool later = std::ranges::any_of(w.sums, [&](UOp sum) { return contains(first, sum); });
      if (reads && later) return bytes <= kMaxFirstLoopBytes ? std::pair{runtime::kPage, 1} : std::pair{kDistance, -1};
      if (reads && first.empty()) bytes = analysis_.bytes(load, [&](UOp r) { return contains(w.reduced_ranges, r); });
      if (reads || later) first.push_back(w.node);
    }
    return {kOneLoopDistance, -1};
  }

  const Kernel& kernel_;
  KernelAnalysis& analysis_;
  const std::vector<RangeWidth>& widths_;
  const runtime::Target& target_;
};

/// The loads of reductions, each once, then those of stores that depend on no reduction.
struct LoadLists {
  std::vector<UOp> summed, stored;
};

LoadLists loads_of(const KernelAnalysis& analysis) {
  LoadLists loads;
  for (const StatementAnalysis& w : analysis.statements())
    for (UOp a : w.accesses)
      if (w.is_reduce() && a->op == Op::Load && !contains(loads.summed, a)) loads.summed.push_back(a);
  for (const StatementAnalysis& w : analysis.statements())
    for (UOp a : w.accesses)
      if (!w.is_reduce() && w.sums.empty() && a->op == Op::Load && !contains(loads.summed, a) &&
          !contains(loads.stored, a))
        loads.stored.push_back(a);
  return loads;
}

std::vector<Opt> prefetch_contiguous(TuningState& state, const LoadLists& loads) {
  StreamPrefetcher streams(state.kernel, state.analysis, state.widths, state.target);
  std::vector<Opt> opts;
  const auto add = [&](UOp load) {
    if (const std::optional<Prefetch> o = streams.stream_prefetch_of(load)) opts.emplace_back(*o);
  };
  for (UOp load : loads.summed) add(load);
  std::vector<UOp> far = ir::filtered(
      loads.stored, [&](UOp load) { return state.analysis.bytes_read(load) >= static_cast<double>(state.target.l3); });
  if (far.size() == 1) add(far[0]);
  return opts;
}

/// Prefetches of the next rows for each load of a reduction whose lanes lie across rows.
std::vector<Opt> prefetch_transposed_rows(TuningState& state, const LoadLists& loads) {
  std::vector<Opt> opts;
  if (!state.target.near_l3 || state.target.masks) return opts;  // not measured elsewhere
  for (UOp load : loads.summed) {
    if (!far_exceeds_l2(state.analysis, load, state.target)) continue;
    const auto across = std::ranges::find_if(state.strided_lane_ranges, [&](UOp r) {
      const int64_t stride = state.analysis.lane_stride(load, r);
      return stride != 0 && stride != 1 && stride != KernelAnalysis::kScattered;
    });
    if (across == state.strided_lane_ranges.end()) continue;
    const int64_t rows = state.width(*across).lanes, bytes = rows * state.analysis.byte_stride(load, *across);
    if (bytes > 2 * kTransposedRowsDistance) continue;
    opts.emplace_back(Prefetch{node_index_of(state.kernel, load), range_id(*across),
                               rows * std::max<int64_t>(1, kTransposedRowsDistance / bytes)});
  }
  return opts;
}

}  // namespace

std::vector<Opt> prefetch_streams(TuningState& state) {
  const LoadLists loads = loads_of(state.analysis);
  return state.strided_lane_ranges.empty() ? prefetch_contiguous(state, loads) : prefetch_transposed_rows(state, loads);
}

}  // namespace sinter::codegen
