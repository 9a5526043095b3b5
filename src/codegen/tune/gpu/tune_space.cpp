#include <algorithm>
#include <unordered_map>

#include "codegen/kernel/access.h"
#include "codegen/tune/gpu/candidates.h"
#include "codegen/tune/heuristic/materialize_rows.h"
#include "ir/walk.h"

namespace sinter::codegen {

TuneSpace::TuneSpace(const Kernel& given, const runtime::Target& machine, std::vector<Materialize> values)
    : kernel(given),
      target(machine),
      materializations(std::move(values)),
      analysis(with_materialized(given, materializations)),
      fixed(sequential_ranges(given, analysis)) {
  for (const StatementAnalysis& w : analysis.statements())
    for (UOp a : w.accesses) element_bytes = std::max(element_bytes, static_cast<int64_t>(size_of(a->src[0]->dtype)));
}

int TuneSpace::contiguous_accesses(UOp range) {
  int count = 0;
  for (const StatementAnalysis& w : analysis.statements())
    for (UOp a : w.accesses)
      if (analysis.stride(a, range) == 1) count += a->op == Op::Store ? 4 : 1;
  return count;
}

std::vector<UOp> TuneSpace::outer_ranges() {
  std::vector<UOp> outer = ir::filtered(analysis.ranges(), [&](UOp r) { return is_outer(r) && !is_fixed(r); });
  std::ranges::sort(outer, [&](UOp a, UOp b) {
    return std::pair(-contiguous_accesses(a), -range_id(a)) < std::pair(-contiguous_accesses(b), -range_id(b));
  });
  return outer;
}

int TuneSpace::vector_along(UOp range, const StatementAnalysis* staged) {
  int lanes = static_cast<int>(std::max<int64_t>(1, 16 / element_bytes));
  while (analysis.size(range) % lanes) lanes /= 2;
  for (const StatementAnalysis& w : analysis.statements())
    for (UOp a : w.accesses) {
      if (&w == staged || slot_of(a) >= kernel.params) continue;  // tiles have ranges with lanes innermost
      if (const int64_t stride = analysis.stride(a, range); stride != 0 && stride != 1) return 1;
    }
  return lanes;
}

int TuneSpace::copies_of_sum(const StatementAnalysis& sum) {
  constexpr int64_t kShortRange = 8;
  const UOp range = sum.reduced_ranges.back();
  const int64_t size = analysis.size(range), vector = 16 / element_bytes;
  if (is_fixed(range)) return 1;
  if (size <= kShortRange) return static_cast<int>(size);
  const bool contiguous = std::ranges::any_of(sum.accesses, [&](UOp a) { return analysis.stride(a, range) == 1; });
  return contiguous && size % vector == 0 ? static_cast<int>(vector) : 1;
}

Candidate make_candidate(const char* generator, const TuneSpace& space, const std::vector<RangeShare>& shares,
                         const std::vector<Opt>& more) {
  Candidate made{generator, {}, {}};
  for (const RangeShare& s : shares) {
    if (s.lanes > 1) made.opts.push_back(Lanes{range_id(s.range), s.lanes});
    if (s.unroll > 1) made.opts.push_back(Unroll{range_id(s.range), s.unroll});
    if (s.threads > 1) made.opts.push_back(ThreadBind{range_id(s.range), s.threads, s.stride});
  }
  made.opts.insert(made.opts.end(), more.begin(), more.end());
  made.opts.insert(made.opts.end(), space.materializations.begin(), space.materializations.end());
  return made;
}

std::vector<std::vector<Materialize>> partial_sums(TuneSpace& space) {
  const std::vector<UOp> nodes = ir::topological(space.kernel.sink);
  std::vector<std::vector<Materialize>> out;
  std::unordered_map<ir::Node*, std::vector<UOp>> around;  // of a sum of blocks: the loops over blocks around it
  std::vector<Materialize> outermost;                      // of all sums
  // Users first, so from the outermost loop over blocks inwards: the tile of a level has a dim for each loop around it.
  for (size_t i = nodes.size(); i-- > 0;) {
    const UOp sum = nodes[i];
    if (sum->op != Op::Reduce || sum->reduction().tree.lanes > 1) continue;
    const UOp part = values_of(sum)[0];
    if (values_of(sum).size() > 1 || part->op != Op::Reduce) continue;
    std::vector<UOp> along = around[sum.get()];
    const bool first = along.empty();
    for (UOp r : ranges_of(sum))
      if (!contains(along, r)) along.push_back(r);
    around[part.get()] = along;
    Materialize opt{static_cast<int>(std::ranges::find(nodes, part) - nodes.begin()), {}};
    for (UOp r : along)
      if (!is_outer(r) && space.analysis.depends(part, r)) opt.ranges.push_back(range_id(r));
    if (opt.ranges.empty()) continue;
    std::ranges::sort(opt.ranges);
    out.push_back({opt});
    if (first) outermost.push_back(std::move(opt));
  }
  if (outermost.size() > 1) out.push_back(std::move(outermost));
  return out;
}

}  // namespace sinter::codegen
