// On Zen 3, 64 MiB in eight rows of 4 to 400 KB at a time take 0.63 to 0.80 of the time of single rows that are
// prefetched two pages ahead. Prefetching the eight rows as well does not pay. Nor do rows of 1 KB: hardware fetches
// beyond their ends. A row that is read twice (variances, softmax) is better prefetched.
#include "codegen/tune/heuristic/steps.h"

#include <algorithm>

#include "codegen/tune/heuristic/operand_analysis.h"

namespace sinter::codegen {
namespace {

constexpr int kStreams = 8;              ///< streams that a core follows at a time
constexpr double kMaxRowOperations = 8;  ///< operations per element; with more, a row is slower than memory

/// The work along the rows: reductions along the range with lanes that depend on no other reduction.
struct RowSums {
  std::vector<UOp> loads;
  double operations = 0;  ///< per element
  int registers = 0;      ///< vectors of accumulators
};

/// Empty if another statement runs along that range, a reduction runs along another one, or the lanes have a mask,
/// which hardware does not predict.
RowSums row_sums_along(TuningState& state, UOp along) {
  RowSums rows;
  for (const StatementAnalysis& w : state.analysis.statements()) {
    if (!w.is_reduce() && !w.runs_over(along)) continue;  // a consumer of the reductions
    if (!w.is_reduce() || w.reduced_ranges.empty() || !(w.reduced_ranges.back() == along) || !w.sums.empty()) return {};
    rows.operations += w.operations;
    rows.registers += std::max(1, w.chains() / state.width(along).lanes);
    for (UOp a : w.accesses) {
      if (a->op != Op::Load || state.analysis.is_masked_along(a, along)) return {};
      if (!contains(rows.loads, a)) rows.loads.push_back(a);
    }
  }
  return rows;
}

/// The outer range with the smallest stride that is at least a page in each load; null if there is none.
UOp find_row_range(TuningState& state, const RowSums& rows) {
  UOp next;
  int64_t nearest = 0;
  for (UOp r : state.analysis.ranges()) {
    if (!is_outer(r) || !has_static_size(r) || contains(state.fixed, r) || state.width_of(r) > 1) continue;
    int64_t apart = INT64_MAX;
    for (UOp load : rows.loads) apart = std::min(apart, state.analysis.byte_stride(load, r));
    if (apart < runtime::kPage || (next && apart >= nearest)) continue;
    next = r;
    nearest = apart;
  }
  return next;
}

/// A lower bound: ranges of variable size do not count.
int64_t task_count(TuningState& state) {
  int64_t tasks = 1;
  for (UOp r : state.analysis.ranges())
    if (is_outer(r) && has_static_size(r)) tasks *= state.analysis.size(r);
  return tasks;
}

}  // namespace

void choose_multi_row_reduction(TuningState& state) {
  if (!state.target.near_l3 || state.target.masks) return;  // not measured elsewhere
  if (!state.products.empty() || !state.materializations.empty() || !state.strided_lane_ranges.empty() ||
      state.lane_ranges.size() != 1)
    return;
  const RowSums rows = row_sums_along(state, state.lane_ranges[0]);
  if (rows.loads.empty() || rows.operations > kMaxRowOperations) return;
  const bool far =
      std::ranges::all_of(rows.loads, [&](UOp load) { return far_exceeds_l2(state.analysis, load, state.target); });
  const UOp next = far ? find_row_range(state, rows) : UOp();
  if (!next) return;
  // An element that is added straight from memory needs no register of its own.
  const int room = rows.operations > 1 ? state.target.vector_registers / 2 : state.target.vector_registers;
  int copies = kStreams / static_cast<int>(std::min<size_t>(rows.loads.size(), kStreams));
  while (copies > 1 && (copies * rows.registers > room || task_count(state) / copies < state.target.parallel_units))
    copies /= 2;
  state.width(next).unroll = copies;
}

}  // namespace sinter::codegen
