// Short loops are unrolled completely, long ones by a few steps.
#include "codegen/tune/heuristic/steps.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <ranges>

#include "codegen/nest/loop_tree.h"
#include "codegen/tune/heuristic/peel.h"
#include "codegen/tune/heuristic/register_pressure.h"

namespace sinter::codegen {
namespace {

constexpr int kLongLoopUnroll = 4;  ///< unroll count of a long loop
/// Steps of a loop around unrolled ones up to which it is unrolled too, and vector multiplications of its body then.
/// Windows of 2 x 2 take 0.6 to 0.9 of the time (Zen 4, December 2026), those of 3 x 3 up to 1.1 times as long.
constexpr int64_t kMaxNestedSteps = 2, kMaxNestedProducts = 128;

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

/// Whether a load gives 0 in some steps of the range: behind a border, or in another phase of a stride. Loops skip
/// these, unrolled steps cannot.
bool skips_steps(TuningState& state, const TuningState::TiledProduct& product, UOp range) {
  return std::ranges::any_of(product.work->accesses, [&](UOp a) { return state.analysis.is_masked_along(a, range); });
}

/// Adds the Unroll of a range that a product reduces. Its count; 1: there is none.
int unroll_range(TuningState& state, const TuningState::TiledProduct& product, UOp range, bool staged,
                 std::vector<Opt>& opts) {
  const bool peeled = peels_edges(state, product, opts);
  for (const int count : unroll_candidates(state.analysis.size(range))) {
    if (!may_unroll(state.analysis, *product.work, product.tile, range, count, staged, peeled, state.target)) continue;
    opts.push_back(Unroll{range_id(range), count});
    if (is_legal(state.kernel, opts)) return count;
    opts.pop_back();  // a block of the range may not be a multiple of the count
  }
  return 1;
}

}  // namespace

std::vector<Opt> unroll_products(TuningState& state, std::vector<Opt> opts) {
  const bool staged = std::ranges::any_of(opts, [](const Opt& o) { return std::holds_alternative<TileCopy>(o); });
  for (const TuningState::TiledProduct& p : state.products) {
    int64_t body = p.tile.accumulators();  // vector multiplications in the loop
    for (UOp r : std::views::reverse(p.work->reduced_ranges)) {
      const int64_t size = state.analysis.size(r);
      const bool innermost = r == p.work->reduced_ranges.back();
      if (!innermost && (size > kMaxNestedSteps || size * body > kMaxNestedProducts || skips_steps(state, p, r))) break;
      if (state.width_of(r) > 1 || contains(state.fixed, r) || unroll_range(state, p, r, staged, opts) != size) break;
      body *= size;
    }
  }
  return opts;
}

}  // namespace sinter::codegen
