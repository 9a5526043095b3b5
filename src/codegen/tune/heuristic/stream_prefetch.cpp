// Measured beside no prefetch, 8192 rows of 1024: softmax 0.75 of the time, layer norm 0.75, variances 0.51; nearer or
// further than two pages less. Elementwise kernels gain nothing on Zen 5, and lose a tenth where the lines are in the
// last cache; with 480 MiB of that, farther away, those of one operand from beyond the part that counts take 0.6 to 0.9
// of the time, and those of two or more up to 1.1: they wait for memory anyhow. Zen 5 does not foresee loads under
// masks at all: depthwise windows of 3 x 3 with a border take 0.4 of the time. Where there are no masks, lanes under
// gates are read one by one: without prefetches the same windows take 0.93 of the time on Zen 1, their input gradient
// 0.59. Rows that are turned in registers, eight at a time, are read in pieces of half a line, which no core foresees:
// asked for 1.5 to 4 KB ahead, rows of 12 to 56 take 0.7 to 0.97 of the time on Zen 3, further ahead more.
//
// Granite Rapids, beside two pages ahead in all loops, from memory and where the last cache still has it all: what one
// loop reads, 2 KB ahead, 0.84 and 0.99 (chain), 0.91 and 1.00 (sum). Of several loops over a row the second one alone,
// one page ahead, rows of 1024: softmax 0.78 and 0.72, its logarithm 0.82 and 0.67, logsumexp 0.87 and 0.97, one sum
// and a store 0.89 to 0.94 and 0.93, variances 0.93 and 1.02, layer norm 1.15 and 0.87. The first loop alone takes 1.00
// to 1.2: it waits for its own elements. Softmax of rows of 256, 512, 2048: 0.97, 0.88, 0.86 and 1.01, 0.93, 0.92; of
// 4096 0.98 and 0.99, of 16384 1.5 and 1.1: there the first loop has read what lies a page ahead. Windows of 3 x 3
// under masks, 2 KB ahead, where the last cache has them: 0.93 to 1.01. Rows that do not follow each other were not
// looked at.
#include "codegen/tune/heuristic/stream_prefetch.h"

#include <algorithm>
#include <optional>

#include "codegen/emit/register_transpose.h"
#include "codegen/kernel/access.h"
#include "codegen/tune/heuristic/operand_analysis.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int64_t kDistance = 2 * runtime::kPage;  ///< bytes
constexpr int64_t kOneLoopDistance = 2048;         ///< bytes, of what one loop reads, where the last cache is far
constexpr int64_t kTransposedRowsDistance = 2048;  ///< bytes, of rows that are turned in registers
constexpr int64_t kMaxFirstLoopBytes = 2 * runtime::kPage;  ///< bytes behind whose loop it pays to ask a page ahead
constexpr int64_t kMinLongRowBytes =
    4 * kDistance;  ///< bytes of a row of which the wrong end of what is asked for is small

class StreamPrefetcher {
 public:
  StreamPrefetcher(const Kernel& kernel, KernelAnalysis& analysis, const std::vector<RangeWidth>& widths,
                   const runtime::Target& target)
      : kernel_(kernel), analysis_(analysis), widths_(widths), target_(target) {}

  std::optional<Prefetch> prefetch_of(UOp load) {
    const auto bytes = static_cast<int64_t>(size_of(load->dtype));
    UOp lanes, next, innermost;  // along which a vector lies, the nearest one follows, and the load moves last
    int64_t apart = 1;           // elements from lane to lane
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
        return {};  // else each place is a known one
      copies |= width.total() > 1;
      if (stride > apart && (!next || stride <= analysis_.stride(load, next)))
        next = r;  // a gradient's windows go backwards besides
    }
    if (!lanes) return {};
    const bool masked = predicate_of(load) && analysis_.depends(predicate_of(load), lanes);
    if (masked && !target_.has_masked_loads(size_of(load->dtype))) return {};  // each lane would be asked for by itself
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
  /// How far ahead, in bytes, what lies row by row is asked for, and in which loop.
  std::pair<int64_t, int> distance_and_loop(UOp load) const {
    if (target_.near_l3) return {kDistance, -1};
    std::vector<UOp> first;  // what reads it in the first loop, and what is made of that
    int64_t bytes = 0;       // that this loop reads
    for (const StatementAnalysis& w : analysis_.statements()) {
      const bool reads = contains(w.accesses, load);
      const bool later = std::any_of(w.sums.begin(), w.sums.end(), [&](UOp sum) { return contains(first, sum); });
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

/// Of the loads of sums first, each once, then of those of stores that no sum goes through.
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
    if (const std::optional<Prefetch> o = streams.prefetch_of(load)) opts.emplace_back(*o);
  };
  for (UOp load : loads.summed) add(load);
  std::vector<UOp> far;
  for (UOp load : loads.stored)
    if (state.analysis.bytes_read(load) >= static_cast<double>(state.target.l3)) far.push_back(load);
  if (far.size() == 1) add(far[0]);
  return opts;
}

/// The next rows of each load of a sum whose lanes lie across rows.
std::vector<Opt> prefetch_transposed_rows(TuningState& state, const LoadLists& loads) {
  std::vector<Opt> opts;
  if (!state.target.near_l3 || state.target.masks) return opts;  // elsewhere not measured
  for (UOp load : loads.summed) {
    if (!far_exceeds_l2(state.analysis, load, state.target)) continue;
    const auto across = std::find_if(state.strided_lane_ranges.begin(), state.strided_lane_ranges.end(), [&](UOp r) {
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
