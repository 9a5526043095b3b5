// Counts what is left of each statement in each segment.
#include "codegen/tune/heuristic/steps.h"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_set>

#include "codegen/emit/segments.h"
#include "codegen/kernel/access.h"
#include "codegen/kernel/common_predicate.h"
#include "codegen/nest/loop_tree.h"
#include "ir/ceil_div.h"

namespace sinter::codegen {
namespace {

constexpr double kMinSaved = 0.25;  ///< share of the kernel's operations that cuts must save
constexpr double kMaxGrowth = 2;    ///< of the code, unless that stays below kMaxBodyOperations

/// Values of the range where a condition on it alone begins or ceases to hold.
std::set<int64_t> seams_of(KernelAnalysis& analysis, const StatementAnalysis& work, UOp range) {
  std::set<int64_t> seams;
  for (UOp n : body_of(work.node)) {
    const bool compares = n->op == Op::Lt || n->op == Op::Le || n->op == Op::Eq || n->op == Op::Ne;
    if (!compares || !analysis.depends(n, range)) continue;
    for (const bool holds : {true, false}) {
      ir::Facts facts;
      facts.assume(n, holds);
      for (const ir::Facts::Constraint& c : facts.constraints()) {
        if (c.core.terms.size() != 1 || !(c.core.terms[0].atom == range)) continue;
        if (c.lo > 0) seams.insert(c.lo);
        if (c.hi < std::numeric_limits<int64_t>::max()) seams.insert(c.hi + 1);
      }
    }
  }
  std::erase_if(seams, [&](int64_t at) { return at <= 0 || at >= analysis.size(range); });
  return seams;
}

/// The seams, or the steps that contain them.
std::vector<int64_t> rounded(const std::vector<int64_t>& seams, int64_t step, int64_t size) {
  std::set<int64_t> at;
  for (const int64_t seam : seams)
    for (const int64_t edge : {seam - seam % step, round_up(seam, step)})
      if (edge > 0 && edge < size && edge <= size - size % step) at.insert(edge);
  return {at.begin(), at.end()};
}

class SegmentWork {
 public:
  SegmentWork(TuningState& state) : state_(state), segments_(ranges_) {}

  struct Work {
    double operations = 0, accesses = 0;
    double all() const { return operations + accesses; }
  };
  Work of(const StatementAnalysis& work) {
    Work sum;
    std::unordered_set<ir::Node*> seen;
    std::vector<UOp> open{work.node};
    while (!open.empty()) {
      UOp n = open.back();
      open.pop_back();
      for (UOp simpler = segments_.simplified(n); !(simpler == n); simpler = segments_.simplified(n)) n = simpler;
      if (!seen.insert(n.get()).second || (n->op == Op::Reduce && !(n == work.node))) continue;
      sum.operations += operations_of(n);
      if (is_access(n)) sum.accesses += access_cycles(n);
      open.insert(open.end(), n->src.begin(), n->src.end());
    }
    return sum;
  }
  Work of(const StatementAnalysis& work, UOp range, int64_t from, int64_t to) {
    segments_.enter(range, from, to);
    const Work found = of(work);
    segments_.leave();
    return found;
  }

 private:
  /// A load under a condition takes a mask, or a branch per lane.
  double access_cycles(UOp n) {
    const UOp predicate = n->op == Op::Load ? predicate_of(n) : UOp();
    if (!predicate) return 1;
    const bool differ = std::ranges::any_of(state_.lane_ranges, [&](UOp v) { return ranges_.depends(predicate, v); });
    return differ && !state_.target.has_masked_loads(size_of(n->dtype)) ? state_.lanes : 2;
  }

  TuningState& state_;
  FreeRanges ranges_;
  Segments segments_;
};

/// Whether a loop over the range may be cut: no other mechanism deals with its conditions, and no register tile, whose
/// text is long, is in it. A range of sums, if results lie along it too, whose loop they share: a loop of sums alone
/// has bounds instead. Sums of several chains take steps of their own.
bool may_be_cut(TuningState& state, UOp range) {
  if (!has_static_size(range) || contains(state.fixed, range)) return false;
  const auto& statements = state.analysis.statements();
  if (std::ranges::none_of(statements, [&](const auto& w) { return contains(w.result_ranges, range); })) return false;
  return std::ranges::none_of(statements, [&](const StatementAnalysis& w) {
    const UOp predicate = common_predicate(w.node);
    return (contains(w.reduced_ranges, range) && w.chains() > 1) || (state.is_product(w) && w.runs_over(range)) ||
           (predicate && state.analysis.depends(predicate, range));
  });
}

/// What is left of a statement in segments that end at `ends`. `code`: operations and accesses of all segments.
RangeCut::Left left_in_segments(SegmentWork& work, const StatementAnalysis& w, UOp range,
                                const std::vector<int64_t>& ends, double& code) {
  RangeCut::Left left{&w, 0, 0};
  int64_t from = 0;
  for (const int64_t to : ends) {
    const SegmentWork::Work here = work.of(w, range, from, to);
    left.cycles += here.all() * static_cast<double>(to - from) / static_cast<double>(ends.back());
    left.operations = std::max(left.operations, here.operations);
    code += here.all();
    from = to;
  }
  return left;
}

/// The cut of a range at all of its seams, if that is worth it. `saved`: operations and accesses.
std::optional<RangeCut> cut_of(TuningState& state, UOp range, double& saved) {
  std::set<int64_t> seams;
  for (const StatementAnalysis& w : state.analysis.statements()) seams.merge(seams_of(state.analysis, w, range));
  RangeCut cut{range, {seams.begin(), seams.end()}, {}};
  const int64_t size = state.analysis.size(range);
  std::vector<int64_t> ends = rounded(cut.seams, codegen::width_of(state.widths, range).lanes, size);
  if (ends.empty() || ends.size() > Cut::kMax) return {};
  ends.push_back(size);
  SegmentWork work(state);
  double all = 0, code = 0, cut_code = 0;
  for (const StatementAnalysis& w : state.analysis.statements()) {
    const double whole = work.of(w).all();
    all += w.iterations * whole;
    if (!w.runs_over(range)) continue;
    cut.left.push_back(left_in_segments(work, w, range, ends, cut_code));
    saved += w.iterations * (whole - cut.left.back().cycles);
    code += whole;
  }
  if (saved < kMinSaved * all || cut_code > std::max(kMaxGrowth * code, kMaxBodyOperations)) return {};
  return cut;
}

}  // namespace

std::optional<RangeCut> choose_cut(TuningState& state) {
  std::optional<RangeCut> best;
  double most = 0;
  for (UOp range : state.analysis.ranges()) {
    if (!may_be_cut(state, range)) continue;
    double saved = 0;
    std::optional<RangeCut> cut = cut_of(state, range, saved);
    if (!cut || saved <= most) continue;
    most = saved;
    best = std::move(cut);
  }
  return best;
}

std::vector<Opt> add_cut(TuningState& state, std::vector<Opt> opts) {
  if (!state.cut) return opts;
  const UOp range = state.cut->range;
  opts.emplace_back(Cut{range_id(range), rounded(state.cut->seams, state.width_of(range), state.analysis.size(range))});
  if (!is_legal(state.kernel, opts)) opts.pop_back();
  return opts;
}

}  // namespace sinter::codegen
