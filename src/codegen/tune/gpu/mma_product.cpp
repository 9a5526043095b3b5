// Products in steps of a tensor core: warps have some tiles of 16 x 8 results along both sides. Blocks of the factors
// go through shared memory, some of them ahead, in rows from which a warp loads whole matrices.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "codegen/kernel/access.h"
#include "codegen/loopschedule/mma_tile.h"
#include "codegen/tune/gpu/product_sides.h"
#include "codegen/tune/gpu/staging.h"
#include "ir/ceil_div.h"

namespace sinter::codegen {
namespace {

constexpr int kMinThreads = 64, kMaxThreads = 256;
constexpr int kMaxTiles = 32;                ///< of a warp: their results fill half of its registers
constexpr int kSlots[] = {3, 4};             ///< of rings
constexpr int64_t kDepths[] = {64, 32, 16};  ///< summed elements of a block; of bytes, pairs

/// Tiles of a warp, and warps, along one side.
struct SideTiles {
  int tiles, warps;
};

class MmaGenerator : public std::enable_shared_from_this<MmaGenerator> {
 public:
  MmaGenerator(TuneSpace& space, ProductSides sides, std::vector<Candidate>& out)
      : space_(space),
        analysis_(space.analysis),
        sides_(std::move(sides)),
        depth_(sides_.product->reduced_ranges.back()),
        step_(mma_depth(sides_.product->node->src[0]->dtype).size()),
        out_(out) {}

  void run() {
    for (const int tiles : {1, 2, 4, 8})
      for (const int warps : {1, 2, 4})
        for (const int rows : {1, 2, 4})
          for (const int warps_of_rows : {1, 2, 4}) propose({tiles, warps}, {rows, warps_of_rows});
  }

 private:
  /// The shares of one side: `tiles` of `size` results of its first range and, if that is short, copies of the next.
  void share_side(const std::vector<UOp>& side, SideTiles wanted, int size, int& stride,
                  std::vector<RangeShare>& shares) const {
    const int64_t all = ceil_div(analysis_.size(side[0]), size);  // tiles along the range
    RangeShare s{side[0]};
    s.threads = static_cast<int>(std::min<int64_t>(wanted.warps, all));
    s.unroll = static_cast<int>(std::min<int64_t>(wanted.tiles, ceil_div(all, s.threads)));
    s.stride = s.threads > 1 ? stride : 1;
    stride *= s.threads;
    shares.push_back(s);
    const int left = wanted.tiles * wanted.warps / (s.threads * s.unroll);
    if (left == 1 || side.size() == 1) return;
    RangeShare next{side[1]};
    next.unroll = static_cast<int>(std::min<int64_t>(left, analysis_.size(side[1])));
    if (next.unroll > 1) shares.push_back(next);
  }

  /// A block's results.
  struct Shape {
    std::vector<RangeShare> shares;  ///< in units of tiles along the first range of each side
    int threads = 1;
  };
  int64_t pairs() const { return size_of(sides_.values[0]->dtype) == 1 ? 2 : 1; }
  UOp columns() const { return sides_.sides[0][0]; }
  UOp rows() const { return sides_.sides[1][0]; }
  int64_t width(const RangeShare& s) const {
    const int tile = s.range == rows() ? kMmaRows.size() : s.range == columns() ? kMmaColumns.size() : 1;
    return tile * s.width();
  }

  void propose(SideTiles columns, SideTiles rows) {
    Shape shape;
    shape.threads = kWarp;
    share_side(sides_.sides[0], columns, kMmaColumns.size(), shape.threads, shape.shares);
    share_side(sides_.sides[1], rows, kMmaRows.size(), shape.threads, shape.shares);
    int64_t tiles = 1;
    for (const RangeShare& s : shape.shares) tiles *= s.unroll;
    if (tiles > kMaxTiles || shape.threads > kMaxThreads || !met_.insert(to_string(opts_of(shape).opts)).second) return;
    std::vector<RangeShare> covered;
    for (const RangeShare& s : shape.shares) {
      covered.push_back({s.range});
      covered.back().unroll = static_cast<int>(width(s));
    }
    const bool small = analysis_.size(this->columns()) * analysis_.size(this->rows()) <= 4096;
    if (!small && (shape.threads < kMinThreads || !fills_machine(space_, *sides_.product, covered))) return;
    out_.push_back(opts_of(shape));  // reads the factors where they are
    std::vector<Candidate> staged;
    for (const int64_t depth : kDepths) {
      propose_staged(shape, depth * pairs(), kSlots[0], staged);
      if (!staged.empty()) break;
    }
    if (staged.empty()) return;
    Candidate first = std::move(staged.front());
    first.refine = [self = shared_from_this(), shape](std::vector<Candidate>& out) {
      for (const int64_t depth : kDepths)
        for (const int slots : kSlots) self->propose_staged(shape, depth * self->pairs(), slots, out);
    };
    out_.push_back(std::move(first));
  }
  Candidate opts_of(const Shape& shape, const std::vector<Opt>& more = {}) const {
    std::vector<Opt> opts{Mma{range_id(rows()), range_id(columns())}};
    opts.insert(opts.end(), more.begin(), more.end());
    return make_candidate("mma", space_, shape.shares, opts);
  }

  /// Both factors in rings of asynchronous copies where they are plain loads, else through registers.
  void propose_staged(const Shape& shape, int64_t depth, int slots, std::vector<Candidate>& out) {
    const int64_t size = analysis_.size(depth_);
    if (depth % step_ || size < depth || (size % depth && depth > step_) || space_.is_fixed(depth_)) return;
    std::vector<Opt> more{Split{range_id(depth_), depth}};
    if (depth > step_) more.push_back(Unroll{range_id(depth_), static_cast<int>(depth / step_)});
    for (size_t side = 0; side < 2; ++side) {
      const UOp value = sides_.values[side];
      std::vector<StagedDim> dims{{depth_, 0, depth, {}}};
      for (auto s = shape.shares.rbegin(); s != shape.shares.rend(); ++s)
        if (analysis_.depends(value, s->range)) dims.push_back({s->range, -1, width(*s), {}});
      std::optional<TileCopy> copy = stage_matrices(space_, value, dims, shape.threads);
      if (!copy) return;
      if (value->op == Op::Load) {
        copy->slots = slots;
        copy->async = true;
      }
      more.push_back(*copy);
    }
    out.push_back(opts_of(shape, more));
  }

  TuneSpace& space_;
  KernelAnalysis& analysis_;
  const ProductSides sides_;
  const UOp depth_;
  const int step_;
  std::set<std::string> met_;
  std::vector<Candidate>& out_;
};

/// Whether tiles along other than the first ranges, or turned, can be better: the first ones are short, and these are
/// not.
bool worth_tiles(TuneSpace& space, const ProductSides& sides, size_t columns, size_t rows) {
  const auto size = [&](size_t side, size_t i) { return space.analysis.size(sides.sides[side][i]); };
  constexpr int64_t kShort = 128;
  return (size(0, 0) < kShort || size(1, 0) < kShort) && size(0, columns) >= kMmaColumns.size() &&
         size(1, rows) >= kMmaColumns.size();
}

/// Tiles for a product beside others of about its size, whose factors are read where they are.
void propose_plain_tiles(TuneSpace& space, const StatementAnalysis& product, std::vector<Candidate>& out) {
  const std::vector<UOp> values = values_of(product.node);
  const auto only = [&](size_t of, UOp r) {
    return space.analysis.depends(values[of], r) && !space.analysis.depends(values[1 - of], r) && !space.is_fixed(r);
  };
  for (UOp rows : product.result_ranges)
    for (UOp columns : product.result_ranges)
      if ((only(0, rows) && only(1, columns)) || (only(1, rows) && only(0, columns)))
        for (const int copies : {1, 2, 4}) {
          RangeShare along{rows}, across{columns};
          along.unroll = std::max(copies / 2, 1);
          across.unroll = copies;
          out.push_back(make_candidate("mma", space, {along, across}, {Mma{range_id(rows), range_id(columns)}}));
        }
}

}  // namespace

void propose_mma(TuneSpace& space, std::vector<Candidate>& out) {
  if (const std::optional<ProductSides> sides = product_sides(space);
      sides && sides->product->node->reduction().tree.mma) {
    // Any range of a side may be that of its tiles, and either side may be the rows.
    for (const bool turned : {false, true})
      for (size_t columns = 0; columns < sides->sides[0].size(); ++columns)
        for (size_t rows = 0; rows < sides->sides[1].size(); ++rows) {
          if (turned + columns + rows > 0 && !worth_tiles(space, *sides, columns, rows)) continue;
          ProductSides given = *sides;
          std::rotate(given.sides[0].begin(), given.sides[0].begin() + static_cast<std::ptrdiff_t>(columns),
                      given.sides[0].begin() + static_cast<std::ptrdiff_t>(columns) + 1);
          std::rotate(given.sides[1].begin(), given.sides[1].begin() + static_cast<std::ptrdiff_t>(rows),
                      given.sides[1].begin() + static_cast<std::ptrdiff_t>(rows) + 1);
          if (turned) {
            std::swap(given.sides[0], given.sides[1]);
            std::swap(given.values[0], given.values[1]);
          }
          std::make_shared<MmaGenerator>(space, std::move(given), out)->run();
        }
    return;
  }
  for (const StatementAnalysis& w : space.analysis.statements())
    if (w.is_reduce() && w.node->reduction().tree.mma) propose_plain_tiles(space, w, out);
}

}  // namespace sinter::codegen
