// Two products back to back, as in attention: a warp computes whole rows of the first one's results, a block of columns
// at a time, and holds them where the second one reads its factor. Blocks of the other factors go through rings in
// shared memory; the rows stay there.
#include <algorithm>
#include <optional>

#include "codegen/loopschedule/mma_tile.h"
#include "codegen/tune/gpu/candidates.h"
#include "codegen/tune/gpu/staging.h"
#include "ir/ceil_div.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int kPairWarps[] = {8, 4, 2, 1};  ///< of a block; each has one tile of rows
constexpr int kRingSlots[] = {2, 3};        ///< of both rings

/// The ranges and factors of two products, the second of which sums over the columns of the first.
struct ProductPair {
  UOp rows, columns;    ///< of the first product
  UOp features, depth;  ///< columns of the second product; what the first one sums
  UOp blocks;           ///< of columns, one at a time
  UOp row_factor, column_factor, feature_factor;
};

bool is_mma(UOp n) { return n->op == Op::Reduce && n->reduction().tree.mma; }

/// The only product on tensor cores below a value; null if there is none.
UOp product_below(UOp value) {
  UOp found;
  int count = 0;
  for (UOp n : ir::topological(value))
    if (is_mma(n)) {
      found = n;
      ++count;
    }
  return count == 1 ? found : UOp();
}

int step_of(const ProductPair& p) { return mma_depth(p.feature_factor->dtype).size(); }

class PairFinder {
 public:
  explicit PairFinder(TuneSpace& space) : space_(space) {}

  std::optional<ProductPair> run() {
    for (const StatementAnalysis& w : space_.analysis.statements())
      if (is_mma(w.node))
        for (const size_t side : {0, 1})
          if (const UOp first = product_below(w.node->src[side]))
            if (std::optional<ProductPair> pair = pair_of(first, w, side)) return pair;
    return {};
  }

 private:
  bool depends(UOp n, UOp range) { return space_.analysis.depends(n, range); }
  /// The only result range of the second product that `is` selects; null if there is none, or several.
  template <class Select>
  static UOp only(const StatementAnalysis& second, Select is) {
    const auto& all = second.result_ranges;
    const auto found = std::find_if(all.begin(), all.end(), is);
    return found != all.end() && std::find_if(found + 1, all.end(), is) == all.end() ? *found : UOp();
  }
  std::optional<ProductPair> pair_of(UOp first, const StatementAnalysis& second, size_t side) {
    ProductPair p;
    const UOp weights = second.node->src[side];
    p.feature_factor = second.node->src[1 - side];
    p.columns = ranges_of(second.node).back();
    p.depth = ranges_of(first).back();
    const size_t columns = depends(first->src[0], p.columns) ? 0 : 1;
    p.column_factor = first->src[columns];
    p.row_factor = first->src[1 - columns];
    if (!depends(p.column_factor, p.columns) || depends(p.row_factor, p.columns)) return {};
    p.features = only(second, [&](UOp r) { return depends(p.feature_factor, r) && !depends(weights, r); });
    p.blocks = only(second, [&](UOp r) { return !is_outer(r) && depends(weights, r); });
    for (UOp r : second.result_ranges) {  // the longest of those that only the first product's rows have
      const bool of_rows =
          is_outer(r) && depends(p.row_factor, r) && !depends(p.column_factor, r) && !depends(p.feature_factor, r);
      if (of_rows && (!p.rows || space_.analysis.size(r) >= space_.analysis.size(p.rows))) p.rows = r;
    }
    if (!p.features || !p.blocks || !p.rows) return {};
    for (UOp r : {p.columns, p.features, p.depth})
      if (!has_static_size(r) || is_outer(r)) return {};
    const bool whole =
        space_.analysis.size(p.columns) % step_of(p) == 0 && space_.analysis.size(p.features) % kMmaColumns.size() == 0;
    return whole ? std::optional(p) : std::nullopt;
  }

  TuneSpace& space_;
};

void add_unroll(std::vector<RangeShare>& shares, UOp range, int64_t count) {
  RangeShare s{range};
  s.unroll = static_cast<int>(count);
  if (count > 1) shares.push_back(s);
}

}  // namespace

void propose_mma_pairs(TuneSpace& space, std::vector<Candidate>& out) {
  const std::optional<ProductPair> pair = PairFinder(space).run();
  if (!pair) return;
  const ProductPair& p = *pair;
  const auto size = [&](UOp r) { return space.analysis.size(r); };
  const int step = step_of(p);
  for (const int warps : kPairWarps) {
    const int64_t rows = int64_t{1} * warps * kMmaRows.size();
    // Rows that do not exist are computed too.
    if (!has_static_size(p.rows) || (warps > 1 && size(p.rows) < rows)) continue;
    std::vector<RangeShare> shares;
    if (warps > 1) shares.push_back({p.rows, 1, 1, warps, kWarp});
    add_unroll(shares, p.features, size(p.features) / kMmaColumns.size());
    add_unroll(shares, p.columns, size(p.columns) / kMmaColumns.size());
    if (size(p.depth) % step == 0) add_unroll(shares, p.depth, size(p.depth) / step);
    const std::vector<Opt> tiles{Mma{range_id(p.rows), range_id(p.features)},
                                 Mma{range_id(p.rows), range_id(p.columns)}};
    out.push_back(make_candidate("mma pair", space, shares, tiles));
    const int threads = warps * kWarp;
    const auto staged = [&](UOp value, const std::vector<StagedDim>& dims) {
      return stage_matrices(space, value, dims, threads);
    };
    const auto kept = staged(p.row_factor, {{p.depth, -1, size(p.depth), {}}, {p.rows, -1, rows, {}}});
    std::vector<std::optional<TileCopy>> rings{
        staged(p.column_factor,
               {{p.blocks, 0, 1, {}}, {p.depth, -1, size(p.depth), {}}, {p.columns, -1, size(p.columns), {}}}),
        staged(p.feature_factor,
               {{p.blocks, 0, 1, {}}, {p.columns, -1, size(p.columns), {}}, {p.features, -1, size(p.features), {}}})};
    if (!rings[0] || !rings[1]) continue;
    // What is computed on its way is copied at once, not ahead.
    const bool loads = p.column_factor->op == Op::Load && p.feature_factor->op == Op::Load;
    for (const int slots :
         loads ? std::vector<int>(std::begin(kRingSlots), std::end(kRingSlots)) : std::vector<int>{1}) {
      std::vector<Opt> opts = tiles;
      opts.push_back(Split{range_id(p.blocks), 1});
      for (std::optional<TileCopy>& ring : rings) {
        ring->slots = slots;
        ring->async = loads;
        opts.push_back(*ring);
      }
      if (kept) opts.push_back(*kept);
      out.push_back(make_candidate("mma pair", space, shares, opts));
    }
  }
}

}  // namespace sinter::codegen
