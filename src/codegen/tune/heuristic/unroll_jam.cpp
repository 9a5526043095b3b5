// In order: serial reductions, reductions that a short loop repeats, short loops of reductions, ranges with lanes,
// interleaved row reductions.
#include "codegen/tune/heuristic/steps.h"

#include <algorithm>

#include "codegen/emit/register_transpose.h"

namespace sinter::codegen {
namespace {

/// Size of a window that may be unrolled completely. Each of its addresses is then known.
constexpr int64_t kShortWindow = 9;
constexpr int kSerialSumUnroll = 4;  ///< unrolled copies of a serial reduction
constexpr int kTwoCopiesSums = 4;    ///< independent sums in a loop body above which two copies suffice
/// Independent sums from which no copies are needed: other work along the range already has the copies of the rows, and
/// sums of more chains than a vector has lanes have loops of their own. On Zen 3, with 16 registers, exponentials of 4
/// rows by 2 vectors take 1.3 of the time of 4 by 1, with the product behind them, and 6 by 2 take 1.6 of 6 by 1.
constexpr int kNoCopiesSums = 12;

/// Each addition of a serial reduction waits for the one before. If a loop around it runs several of these and nothing
/// else, that loop is unrolled.
void unroll_serial_sums(TuningState& state) {
  for (const StatementAnalysis& w : state.analysis.statements()) {
    if (!is_serial_sum(state, w) || !w.sums.empty() || w.reduced_ranges.empty() ||
        TuningState::scalar_cycles(w) < kMinProductCycles)
      continue;
    for (size_t i = w.result_ranges.size(); i-- > 0;) {
      UOp r = w.result_ranges[i];
      if (is_outer(r) || contains(state.fixed, r) || state.width_of(r) > 1 || state.analysis.size(r) % kSerialSumUnroll)
        continue;
      if (!std::ranges::all_of(state.analysis.statements(), [&](const StatementAnalysis& other) {
            return !other.runs_over(r) || is_serial_sum(state, other);
          }))
        continue;
      state.width(r).unroll = kSerialSumUnroll;
      break;
    }
  }
}

/// A short loop repeats the reductions inside that do not depend on it. It is unrolled completely, so that the copies
/// share them.
void unroll_repeating_loops(TuningState& state) {
  for (const StatementAnalysis& w : state.analysis.statements())
    for (UOp r : w.result_ranges) {
      if (is_outer(r) || contains(state.fixed, r) || state.width_of(r) > 1 || state.analysis.size(r) > kShortLoop)
        continue;
      const bool repeated = std::ranges::any_of(w.sums, [&](UOp sum) {
        return !state.analysis.depends(sum, r) && !state.analysis.statement_of(sum).reduced_ranges.empty() &&
               std::ranges::any_of(state.analysis.ranges(), [&](UOp v) {
                 return !is_outer(v) && range_id(v) > range_id(r) && state.analysis.depends(sum, v);
               });
      });
      if (repeated) state.width(r).unroll = static_cast<int>(state.analysis.size(r));
    }
}

/// Whether the lanes of a load have a mask that changes along a range.
bool masks_change(TuningState& state, const StatementAnalysis& w, UOp load, UOp range) {
  return state.analysis.is_masked_along(load, range) && std::ranges::any_of(state.lane_ranges, [&](UOp v) {
           return contains(w.result_ranges, v) && state.analysis.is_masked_along(load, v);
         });
}

/// A short loop of a reduction is unrolled completely if memory is read at no fixed distance along it, as in a window
/// whose rows and columns are one range. Likewise if masks change along it, as at the edge of an image. Each address
/// and each mask is then known.
void unroll_short_sums(TuningState& state) {
  for (const StatementAnalysis& w : state.analysis.statements()) {
    if (!w.is_reduce() || w.chains() > 1 || w.reduced_ranges.empty()) continue;
    UOp r = w.reduced_ranges.back();
    const int64_t size = state.analysis.size(r);
    if (size > (state.is_product(w) ? kShortLoop : kShortWindow) ||
        static_cast<double>(std::max(size, kShortLoop)) * w.operations > kMaxBodyOperations)
      continue;
    if (contains(state.fixed, r) || state.width_of(r) > 1) continue;
    if (std::ranges::any_of(w.accesses, [&](UOp a) {
          return state.analysis.stride(a, r) == KernelAnalysis::kScattered || masks_change(state, w, a, r);
        }))
      state.width(r).unroll = static_cast<int>(size);
  }
}

/// Steps of the loop over a cut range shrink to those that end where segments do.
void fit_seams(const TuningState& state, RangeWidth& w) {
  if (!state.cut || !(state.cut->range == w.range)) return;
  const auto missed = [&](int64_t step) {
    return std::ranges::count_if(state.cut->seams, [&](int64_t seam) { return seam % step != 0; });
  };
  while (w.unroll > 1 && missed(w.total()) > missed(w.lanes)) w.unroll /= 2;
}

void unroll_lane_ranges(TuningState& state) {
  for (UOp r : state.lane_ranges) {
    if (state.is_tiled(r) || contains(state.strided_lane_ranges, r)) continue;
    RangeWidth& w = state.width(r);
    double operations = 0;
    int chains = 1, independent = 1;  // sums in a step that hide each other's latency
    for (const StatementAnalysis& work : state.analysis.statements()) {
      if (!work.runs_over(r)) continue;
      for (const TuningState::TiledProduct& p : state.products)
        if (p.work == &work) independent = std::max(independent, p.tile.accumulators());
      double length = state.operations(work);  // of the code
      for (UOp a : work.accesses)
        if (const int64_t stride = state.analysis.stride(a, r); stride < 0 || stride > kWidestStride) length += w.lanes;
      operations =
          std::max(operations, length * (work.reduced_ranges.empty() || work.chains() > 1
                                             ? 1
                                             : static_cast<double>(state.width_of(work.reduced_ranges.back()))));
      if (!work.reduced_ranges.empty() && work.reduced_ranges.back() == r) chains = std::max(chains, work.chains());
    }
    w.unroll = chains > w.lanes ? chains / w.lanes : independent > kTwoCopiesSums ? 2 : 4;
    if (independent >= kNoCopiesSums) w.unroll = 1;
    if (chains <= w.lanes) {
      while (w.unroll > 1 && (w.unroll * operations > kMaxBodyOperations || w.total() > state.analysis.size(r)))
        w.unroll /= 2;
    }
    if (chains <= w.lanes) fit_seams(state, w);
  }
}

}  // namespace

bool is_serial_sum(const TuningState& state, const StatementAnalysis& w) {
  return w.is_reduce() && w.chains() == 1 && kSerialSumUnroll * w.operations <= kMaxBodyOperations &&
         std::ranges::none_of(state.lane_ranges, [&](UOp v) { return contains(w.result_ranges, v); });
}

void choose_unrolls(TuningState& state) {
  unroll_serial_sums(state);
  unroll_repeating_loops(state);
  unroll_short_sums(state);
  unroll_lane_ranges(state);
  choose_multi_row_reduction(state);
  for (const RangeWidth& w : state.widths) {
    if (w.lanes > 1) state.opts.push_back(Lanes{range_id(w.range), w.lanes});
    if (w.unroll > 1) state.opts.push_back(Unroll{range_id(w.range), w.unroll});
  }
}

}  // namespace sinter::codegen
