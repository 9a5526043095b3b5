// Products back to back, as in attention and its gradients: a warp computes whole rows of the first ones' results, a
// block of columns at a time, and holds them where the later ones read a factor. Blocks of the other factors go through
// rings in shared memory; the rows stay there.
#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include "codegen/kernel/common_predicate.h"
#include "codegen/loopschedule/mma_tile.h"
#include "codegen/tune/gpu/candidates.h"
#include "codegen/tune/gpu/staging.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

constexpr int kPairWarps[] = {8, 4, 2, 1};  ///< of a block; each has one tile of rows
constexpr int kRingSlots[] = {2, 3};        ///< of both rings

/// A product whose results are made into a factor of later ones.
struct FirstProduct {
  UOp depth;  ///< what it sums
  UOp row_factor, column_factor;
};

/// A product that sums over the columns of the first ones.
struct LaterProduct {
  UOp features;  ///< its columns
  UOp factor;    ///< the one that is not made of the first products
};

struct ProductChain {
  UOp rows, columns;  ///< of the first products
  UOp blocks;         ///< of columns, one at a time
  std::vector<FirstProduct> first;
  std::vector<LaterProduct> later;
};

bool is_mma(UOp n) { return n->op == Op::Reduce && n->reduction().tree.mma; }

std::vector<UOp> products_below(UOp value) { return ir::filtered(ir::topological(value), is_mma); }

int step_of(UOp factor) { return mma_depth(factor->dtype).size(); }

class ChainFinder {
 public:
  explicit ChainFinder(TuneSpace& space) : space_(space) {}

  std::optional<ProductChain> run() {
    ProductChain chain;
    for (const StatementAnalysis& w : space_.analysis.statements()) {
      if (!is_mma(w.node)) continue;
      const std::vector<UOp> factors = open_factors(w.node);
      for (const size_t side : {0, 1})
        if (const std::vector<UOp> first = products_below(factors[side]); !first.empty())
          if (!add(chain, first, w, factors[side], factors[1 - side])) return {};
    }
    if (chain.later.empty()) return {};
    // All rows are the same range: the longest that only rows of the first products have.
    for (UOp r : space_.analysis.statement_of(chain_end_).result_ranges) {
      const auto of_rows = [&](const FirstProduct& p) {
        return depends(p.row_factor, r) && !depends(p.column_factor, r);
      };
      const bool is_rows =
          is_outer(r) && std::ranges::all_of(chain.first, of_rows) &&
          std::ranges::none_of(chain.later, [&](const LaterProduct& p) { return depends(p.factor, r); });
      if (is_rows && (!chain.rows || space_.analysis.size(r) >= space_.analysis.size(chain.rows))) chain.rows = r;
    }
    return chain.rows ? std::optional(chain) : std::nullopt;
  }

 private:
  bool depends(UOp n, UOp range) { return space_.analysis.depends(n, range); }
  bool fits(UOp range, int unit) {
    return has_static_size(range) && !is_outer(range) && space_.analysis.size(range) % unit == 0;
  }
  /// The only one of the ranges that `is` selects; null if there is none, or several.
  template <class Select>
  static UOp only(const std::vector<UOp>& ranges, Select is) {
    const auto found = std::ranges::find_if(ranges, is);
    return found != ranges.end() && std::find_if(found + 1, ranges.end(), is) == ranges.end() ? *found : UOp();
  }
  /// Whether the range that a chain has in one place is this one too.
  static bool agree(UOp& known, UOp range) {
    if (!known) known = range;
    return range && known == range;
  }
  bool add(ProductChain& chain, const std::vector<UOp>& first, const StatementAnalysis& later, UOp made, UOp factor) {
    std::vector<UOp> own = ranges_of(later.node), around = later.result_ranges;
    const UOp columns = own.back();
    own.pop_back();
    around.insert(around.end(), own.begin(), own.end());
    const auto in_task = [&](UOp r) { return !is_outer(r) && depends(made, r); };
    if (!agree(chain.columns, columns) || !agree(chain.blocks, only(around, in_task))) return false;
    const UOp features = only(later.result_ranges, [&](UOp r) { return depends(factor, r) && !depends(made, r); });
    if (!features || !fits(features, kMmaColumns.size()) || !fits(columns, step_of(factor))) return false;
    chain.later.push_back({features, factor});
    chain_end_ = later.node;
    for (UOp p : first) {
      const UOp depth = ranges_of(p).back();
      const size_t of_columns = depends(p->src[0], columns) ? 0 : 1;
      const FirstProduct product{depth, p->src[1 - of_columns], p->src[of_columns]};
      if (!depends(product.column_factor, columns) || depends(product.row_factor, columns)) return false;
      if (!has_static_size(depth) || is_outer(depth)) return false;
      const auto same = [&](const FirstProduct& known) { return known.column_factor == product.column_factor; };
      if (std::ranges::none_of(chain.first, same)) chain.first.push_back(product);
    }
    return true;
  }

  TuneSpace& space_;
  UOp chain_end_;  ///< a later product
};

void add_unroll(std::vector<RangeShare>& shares, UOp range, int64_t count) {
  RangeShare s{range};
  s.unroll = static_cast<int>(count);
  if (count > 1) shares.push_back(s);
}

}  // namespace

void propose_mma_pairs(TuneSpace& space, std::vector<Candidate>& out) {
  const std::optional<ProductChain> chain = ChainFinder(space).run();
  if (!chain) return;
  const ProductChain& p = *chain;
  const auto size = [&](UOp r) { return space.analysis.size(r); };
  for (const int warps : kPairWarps) {
    const int64_t rows = int64_t{1} * warps * kMmaRows.size();
    // Rows that do not exist are computed too.
    if (!has_static_size(p.rows) || (warps > 1 && size(p.rows) < rows)) continue;
    const int threads = warps * kWarp;
    std::vector<RangeShare> shares;
    std::vector<Opt> tiles;
    std::vector<std::optional<TileCopy>> rings, kept;
    const auto stage = [&](UOp value, const std::vector<StagedDim>& dims, std::vector<std::optional<TileCopy>>& to) {
      to.push_back(stage_matrices(space, value, dims, threads));
    };
    const auto whole = [&](UOp r) { return StagedDim{r, -1, size(r), {}}; };
    if (warps > 1) shares.push_back({p.rows, 1, 1, warps, kWarp});
    bool loads = true;
    for (const LaterProduct& later : p.later) {
      const Mma tile{range_id(p.rows), range_id(later.features)};
      if (std::ranges::none_of(tiles, [&](const Opt& t) { return std::get<Mma>(t) == tile; })) {
        tiles.push_back(tile);
        add_unroll(shares, later.features, size(later.features) / kMmaColumns.size());
      }
      loads &= later.factor->op == Op::Load;
    }
    tiles.push_back(Mma{range_id(p.rows), range_id(p.columns)});
    add_unroll(shares, p.columns, size(p.columns) / kMmaColumns.size());
    for (const FirstProduct& first : p.first) {
      const int step = step_of(first.row_factor);
      const bool known = std::ranges::any_of(shares, [&](const RangeShare& s) { return s.range == first.depth; });
      if (size(first.depth) % step == 0 && !known) add_unroll(shares, first.depth, size(first.depth) / step);
      loads &= first.column_factor->op == Op::Load;
      stage(first.column_factor, {{p.blocks, 0, 1, {}}, whole(first.depth), whole(p.columns)}, rings);
      stage(first.row_factor, {whole(first.depth), {p.rows, -1, rows, {}}}, kept);
    }
    for (const LaterProduct& later : p.later)
      stage(later.factor, {{p.blocks, 0, 1, {}}, whole(p.columns), whole(later.features)}, rings);
    out.push_back(make_candidate("mma pair", space, shares, tiles));
    if (!std::ranges::all_of(rings, [](const auto& ring) { return ring.has_value(); })) continue;
    // What is computed on its way is copied at once, not ahead.
    for (const int slots :
         loads ? std::vector<int>(std::begin(kRingSlots), std::end(kRingSlots)) : std::vector<int>{1}) {
      std::vector<Opt> opts = tiles;
      opts.push_back(Split{range_id(p.blocks), 1});
      for (std::optional<TileCopy>& ring : rings) {
        ring->slots = slots;
        ring->async = loads;
        opts.push_back(*ring);
      }
      for (const std::optional<TileCopy>& rows_of_block : kept)
        if (rows_of_block) opts.push_back(*rows_of_block);
      out.push_back(make_candidate("mma pair", space, shares, opts));
    }
  }
}

}  // namespace sinter::codegen
