// Measured on Zen 3, beside one row at a time whose lines are asked for two pages ahead: 64 MiB take 0.63 to 0.80 of
// the time in eight rows of 4 to 400 KB, also with two threads; in four as much, or up to 1.1 of it; one row, not asked
// for, 0.8 to 0.9. Asking ahead as well takes 1.07 of four rows. Rows of 1 KB take 1.3: what is fetched ahead behind
// their ends is not needed. Where a row is read twice (variances, softmax), asking ahead is the better way: 0.7.
#include "codegen/tune/heuristic/multi_row_reduction.h"

#include <algorithm>

#include "codegen/kernel/access.h"
#include "codegen/tune/heuristic/operand_analysis.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int kStreams = 8;           ///< that a core foresees side by side
constexpr double kMaxOperations = 8;  ///< operations for one element: with more a row is slower than memory

/// What goes through the rows: only sums along the range that has the lanes, which wait for no other sum.
struct RowSums {
  std::vector<UOp> loads;
  double operations = 0;  ///< for one element
  int registers = 0;      ///< vectors of accumulators
};

/// None where something else goes along that range, a sum goes along another one, or the lanes have a mask, which no
/// core foresees.
RowSums row_sums_along(TuningState& state, UOp along) {
  RowSums rows;
  for (const StatementAnalysis& w : state.analysis.statements()) {
    if (!w.is_reduce() && !w.runs_over(along)) continue;  // what becomes of the sums
    if (!w.is_reduce() || w.reduced_ranges.empty() || !(w.reduced_ranges.back() == along) || !w.sums.empty()) return {};
    rows.operations += w.operations;
    rows.registers += std::max(1, w.chains() / state.width(along).lanes);
    for (UOp a : w.accesses) {
      if (a->op != Op::Load || (predicate_of(a) && state.analysis.depends(predicate_of(a), along))) return {};
      if (!contains(rows.loads, a)) rows.loads.push_back(a);
    }
  }
  return rows;
}

/// The outer range whose rows follow each other most closely, whole pages apart in each load; null: none.
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

/// At least.
int64_t task_count(TuningState& state) {
  int64_t tasks = 1;
  for (UOp r : state.analysis.ranges())
    if (is_outer(r) && has_static_size(r)) tasks *= state.analysis.size(r);
  return tasks;
}

}  // namespace

void choose_multi_row_reduction(TuningState& state) {
  if (!state.target.near_l3 || state.target.masks) return;  // elsewhere not measured
  if (!state.products.empty() || !state.materializations.empty() || !state.strided_lane_ranges.empty() ||
      state.lane_ranges.size() != 1)
    return;
  const RowSums rows = row_sums_along(state, state.lane_ranges[0]);
  if (rows.loads.empty() || rows.operations > kMaxOperations) return;
  const bool far = std::all_of(rows.loads.begin(), rows.loads.end(),
                               [&](UOp load) { return far_exceeds_l2(state.analysis, load, state.target); });
  const UOp next = far ? find_row_range(state, rows) : UOp();
  if (!next) return;
  // An element that is added as it comes needs no register of its own.
  const int room = rows.operations > 1 ? state.target.vector_registers / 2 : state.target.vector_registers;
  int copies = kStreams / static_cast<int>(std::min<size_t>(rows.loads.size(), kStreams));
  while (copies > 1 && (copies * rows.registers > room || task_count(state) / copies < state.target.parallel_units))
    copies /= 2;
  state.width(next).unroll = copies;
}

}  // namespace sinter::codegen
