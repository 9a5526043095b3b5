// Tasks grow along the ranges in the order of what that saves: values computed once per task, panels, lines, rows,
// launches.
#include "codegen/tune/heuristic/steps.h"

#include <cmath>

#include "codegen/tune/heuristic/peel.h"
#include "codegen/tune/heuristic/thread_partition.h"
#include "ir/ceil_div.h"

namespace sinter::codegen {
namespace {

constexpr double kMaxTaskCycles = 16 * kTaskCycles;  ///< cycles of a task above which more tasks are better
constexpr double kTasksPerUnit = 2;                  ///< tasks per parallel unit, so that every thread gets several
constexpr double kMaxTaskRows = 96;                  ///< values of a product's first range per task, at most
constexpr double kMaxPanelTaskRows = 1024;           ///< the same if many panels pass by, which each task rereads

double cycles_of_all(const TuningState& state) {
  double all = 0;
  for (const StatementAnalysis& w : state.analysis.statements())
    all += state.cycles(w) / (state.lane_ranges.empty() && w.chains() == 1 ? 1 : state.lanes / 2.0);
  return all;
}

/// Whether a store has a smaller stride along one range than along another.
bool stored_nearer(TuningState& state, UOp range, UOp other) {
  return std::ranges::any_of(state.analysis.statements(), [&](const StatementAnalysis& w) {
    if (w.is_reduce()) return false;
    const int64_t near = state.analysis.stride(w.node, range), far = state.analysis.stride(w.node, other);
    return near > 0 && near < far;
  });
}

/// Whether consecutive tasks read different columns of a product's operand, and half of the second cache does not hold
/// what the next row rereads. The panels of such an operand are apart, as those of attention heads.
bool many_panels(TuningState& state, const TuningState::TiledProduct& p) {
  const auto again = [&](UOp r) { return !is_outer(r) || range_id(r) > range_id(p.tile.row_range); };
  return std::ranges::any_of(p.work->accesses, [&](UOp a) {
    if (!passes_under_rows(state.analysis, p.tile, a)) return false;
    const bool apart = std::ranges::any_of(state.analysis.ranges(), [&](UOp r) {
      return state.analysis.depends(a, r) && again(r) && is_outer(r) && !(r == p.tile.lane_range);
    });
    return apart && state.analysis.bytes(a, again) > state.target.l2 / 2;
  });
}

/// How many tiles lie side by side so that what they read, and all rows reread, fills half of the first cache. Their
/// rows are stored in one go.
double tiles_in_l1(TuningState& state, const TuningState::TiledProduct& p) {
  const auto summed = [&](UOp r) { return contains(p.work->reduced_ranges, r); };
  int64_t bytes = 0;
  for (UOp a : p.work->accesses)
    if (passes_under_rows(state.analysis, p.tile, a)) bytes += state.analysis.bytes(a, summed);
  bytes *= state.width_of(p.tile.lane_range);
  return bytes ? static_cast<double>(state.target.l1) / 2 / static_cast<double>(bytes) : 1;
}

/// Whether a reduction or a packed operand that does not depend on an outer range is needed at each of its values.
bool is_recomputed_along(TuningState& state, UOp range) {
  if (std::ranges::any_of(state.packed_operands, [&](UOp v) { return !state.analysis.depends(v, range); })) return true;
  for (const StatementAnalysis& w : state.analysis.statements())
    if (state.analysis.depends(w.node, range))
      for (UOp r : w.sums)
        if (!state.analysis.depends(r, range) && !state.analysis.statement_of(r).reduced_ranges.empty()) return true;
  return false;
}

/// The outer ranges, and how many values of each a task covers.
class TaskGrid {
 public:
  explicit TaskGrid(const TuningState& state) : outer(state.kernel.outer.size()) {
    for (UOp r : state.analysis.ranges())
      if (is_outer(r)) outer[range_id(r)] = r;
    std::erase(outer, UOp());
    for (UOp r : outer) {
      block.push_back(state.width_of(r));
      counts_.push_back(ceil_div(state.analysis.size(r), block.back()));
      count *= static_cast<double>(counts_.back());
    }
  }

  /// A task covers `by` times as many values of a range, or all that there are.
  void enlarge(size_t i, double by) {
    by = std::floor(std::min(by, static_cast<double>(counts_[i])));
    if (by <= 1) return;
    const auto times = static_cast<int64_t>(by), left = ceil_div(counts_[i], times);
    count = count / static_cast<double>(counts_[i]) * static_cast<double>(left);
    block[i] *= ceil_div(counts_[i], left);
    counts_[i] = left;
  }

  /// Tasks along a range per thread.
  double part(size_t i, int threads) const { return std::ceil(static_cast<double>(counts_[i]) / threads); }

  std::vector<UOp> outer;
  std::vector<int64_t> block;  ///< per range
  double count = 1;            ///< number of tasks

 private:
  std::vector<int64_t> counts_;  ///< per range
};

}  // namespace

void choose_task_grain(TuningState& state) {
  TaskGrid tasks(state);
  const std::vector<UOp>& outer = tasks.outer;
  if (outer.empty()) return;
  const double all = std::max(cycles_of_all(state), 1.0), units = state.target.parallel_units;
  const double wanted = std::max(kTasksPerUnit * units, all / kMaxTaskCycles);
  const auto room = [&] { return std::min(tasks.count / wanted, tasks.count * kTaskCycles / all); };
  // What a task computes once serves as many values as the parallel units allow.
  for (size_t i = 0; i < outer.size(); ++i)
    if (is_recomputed_along(state, outer[i])) tasks.enlarge(i, tasks.count / units);
  if (!state.products.empty())
    if (const RegisterTile& t = state.products[0].tile; t.row_range && is_outer(t.row_range)) {
      const auto rows = static_cast<size_t>(std::ranges::find(outer, t.row_range) - outer.begin());
      const bool peeled = std::ranges::any_of(state.products, [&](const TuningState::TiledProduct& p) {
        return p.tile.row_range == t.row_range && peel_of(state.analysis, *p.work, p.tile, state.target);
      });
      if (peeled)
        tasks.enlarge(rows, static_cast<double>(state.analysis.size(t.row_range)));  // a task holds both edges
      if (covers_all_rows_of_thread(state.analysis, *state.products[0].work, t, state.target))
        tasks.enlarge(rows, std::min(tasks.part(rows, state.target.threads),
                                     tasks.count / (kTasksPerUnit * state.target.threads)));
      if (many_panels(state, state.products[0]))
        tasks.enlarge(rows, std::min(tasks.count / (kTasksPerUnit * units), kMaxPanelTaskRows / t.rows));
      // Lines that a tile's far rows begin are written to their end.
      for (size_t i = outer.size(); i-- > 0;)
        if (!state.is_tiled(outer[i]) && stored_nearer(state, outer[i], t.row_range))
          tasks.enlarge(i, tasks.count / wanted);
      if (t.lane_range && is_outer(t.lane_range) && stored_nearer(state, t.lane_range, t.row_range)) {
        const auto columns = static_cast<size_t>(std::ranges::find(outer, t.lane_range) - outer.begin());
        tasks.enlarge(columns, std::min(room(), tiles_in_l1(state, state.products[0])));
      }
      tasks.enlarge(rows, std::min(room(), kMaxTaskRows / t.rows));
    }
  // Rows are read and written from their beginning to their end.
  for (size_t i = 0; i < outer.size(); ++i)
    if (contains(state.strided_lane_ranges, outer[i])) tasks.enlarge(i, room());
  // Not along adjacent rows that are streams already: a task would alternate between twice as many.
  const auto streams = [&](UOp r) {
    return state.stores_row_streams && state.width_of(r) > 1 && !contains(state.strided_lane_ranges, r);
  };
  for (size_t i = outer.size(); i-- > 0;)
    if (!streams(outer[i])) tasks.enlarge(i, room());
  for (size_t i = 0; i < outer.size(); ++i)
    if (tasks.block[i] > state.width_of(outer[i])) state.opts.push_back(TaskBlock{range_id(outer[i]), tasks.block[i]});
}

}  // namespace sinter::codegen
