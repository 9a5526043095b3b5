// Short loops are unrolled completely, long ones by a few steps.
#include "codegen/tune/heuristic/steps.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "codegen/nest/loop_tree.h"
#include "codegen/tune/heuristic/peel.h"
#include "codegen/tune/heuristic/register_pressure.h"

namespace sinter::codegen {
namespace {

constexpr int kLongLoopUnroll = 4;  ///< unroll count of a long loop

/// Unroll counts for a loop of `size` steps, the best ones first. Empty: not unrolled.
std::vector<int> unroll_candidates(int64_t size) {
  if (size <= kMaxFullUnroll) return size > 1 ? std::vector<int>{static_cast<int>(size)} : std::vector<int>();
  const auto dividing = [&](std::initializer_list<int> all) {
    std::vector<int> out;
    std::copy_if(all.begin(), all.end(), std::back_inserter(out), [&](int count) { return size % count == 0; });
    return out;
  };
  if (size <= 2 * kMaxFullUnroll) return dividing({7, 6, 5, 4, 3, 2});  // a remainder would be a large part
  std::vector<int> out = dividing({kLongLoopUnroll, 5, 7});
  if (size % kLongLoopUnroll) out.push_back(kLongLoopUnroll);
  return out;
}

}  // namespace

std::vector<Opt> unroll_products(TuningState& state, std::vector<Opt> opts) {
  const bool staged = std::ranges::any_of(opts, [](const Opt& o) { return std::holds_alternative<TileCopy>(o); });
  for (const TuningState::TiledProduct& p : state.products) {
    UOp r = p.work->reduced_ranges.back();
    const bool peeled = peels_edges(state, p, opts);
    if (state.width_of(r) > 1 || contains(state.fixed, r)) continue;
    for (const int count : unroll_candidates(state.analysis.size(r))) {
      if (!may_unroll(state.analysis, *p.work, p.tile, r, count, staged, peeled, state.target)) continue;
      opts.push_back(Unroll{range_id(r), count});
      if (is_legal(state.kernel, opts)) break;  // a block of the range may not be a multiple of the count
      opts.pop_back();
    }
  }
  return opts;
}

}  // namespace sinter::codegen
