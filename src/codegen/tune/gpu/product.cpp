// A product's results form a rectangle: ranges of the first factor along one side, ranges of the second along the
// other. A thread has some copies along both sides; blocks of the factors go through shared memory, each element read
// once for all threads of the rectangle.
#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "codegen/kernel/access.h"
#include "codegen/tune/gpu/product_sides.h"
#include "codegen/tune/gpu/staging.h"
#include "ir/ceil_div.h"

namespace sinter::codegen {
namespace {

constexpr int kMinTileThreads = 48, kMaxTileThreads = 256;

/// Copies and threads along one side.
struct SideSize {
  int copies, threads;
};

/// How a product's reduced ranges are staged: `split` goes by blocks of `step`, the ranges inside it as a whole.
struct DepthBlock {
  UOp split;  ///< null: all reduced ranges at once
  int64_t step = 0;
  std::vector<UOp> whole;
  int64_t depth = 1;  ///< reduced values of a block
};

class ProductGenerator : public std::enable_shared_from_this<ProductGenerator> {
 public:
  ProductGenerator(TuneSpace& space, ProductSides sides, std::vector<Candidate>& out)
      : space_(space),
        analysis_(space.analysis),
        product_(*sides.product),
        values_(sides.values),
        sides_(std::move(sides.sides)),
        parts_(std::move(sides.parts)),
        out_(out) {}

  void run() {
    for (const int64_t most : {8, 16, 32})
      if (DepthBlock block = depth_block(most);
          block.depth > 1 && (depths_.empty() || block.depth > depths_.back().depth))
        depths_.push_back(std::move(block));
    static constexpr SideSize kColumns[] = {{8, 16}, {4, 16}, {8, 8}, {4, 8}, {4, 32}, {8, 32}, {4, 64}};
    for (const SideSize& columns : kColumns)
      for (const int copies : {1, 2, 4, 8})
        for (const int threads : {1, 2, 4, 8, 16, 32})
          for (const int parts : {1, 4, 16})
            if (parts == 1 || !parts_.empty()) propose(columns, {copies, threads}, parts);
  }

 private:
  /// Gives copies and threads to the ranges of a side, the closest in memory first, as far as it goes.
  void share_side(const std::vector<UOp>& side, SideSize size, int& stride, bool vectors, bool staged,
                  std::vector<RangeShare>& shares) {
    int64_t copies = size.copies, threads = size.threads;
    for (UOp r : side) {
      const int64_t n = analysis_.size(r);
      RangeShare s{r};
      int64_t own = std::min(copies, n);
      for (int64_t k = own; 2 * k > own; --k)  // copies that divide the range waste none
        if (n % k == 0) {
          own = k;
          break;
        }
      if (vectors && r == side[0]) {
        const int lanes = space_.vector_along(r, staged ? &product_ : nullptr);
        if (lanes > 1 && own % lanes == 0) s.lanes = lanes;
      }
      s.unroll = static_cast<int>(own / s.lanes);
      s.threads = static_cast<int>(std::min(threads, ceil_div(n, own)));
      s.stride = s.threads > 1 ? stride : 1;
      stride *= s.threads;
      copies /= own;
      threads /= s.threads;
      if (s.width() > 1) shares.push_back(s);
      if (copies <= 1 && threads <= 1) return;
    }
  }

  /// A tile and its threads.
  struct Shape {
    std::vector<RangeShare> shares;
    int threads = 1;
  };
  std::optional<Shape> shape_of(SideSize columns, SideSize rows, int parts, bool staged) {
    Shape shape;
    share_side(sides_[0], columns, shape.threads, true, staged, shape.shares);
    share_side(sides_[1], rows, shape.threads, false, staged, shape.shares);
    if (parts > 1) share_side(parts_, {1, parts}, shape.threads, false, false, shape.shares);
    const Candidate tile = make_candidate("", space_, shape.shares, {});
    if (!met_.insert((staged ? "staged " : "") + to_string(tile.opts)).second) return std::nullopt;
    if (shape.threads < kMinTileThreads || shape.threads > kMaxTileThreads ||
        !fills_machine(space_, product_, shape.shares))
      return std::nullopt;
    return shape;
  }

  void propose(SideSize columns, SideSize rows, int parts) {
    if (const std::optional<Shape> shape = shape_of(columns, rows, parts, false))
      out_.push_back(make_candidate("product", space_, shape->shares, unroll_last()));
    if (!parts_.empty() || depths_.empty()) return;  // a tile would have all blocks of the sum
    const std::optional<Shape> shape = shape_of(columns, rows, parts, true);
    if (!shape) return;
    // One way of staging stands for all others.
    std::vector<Candidate> staged;
    propose_staged(*shape, depths_.back(), product_.blocks > 0, staged);
    if (staged.empty()) return;
    Candidate first = std::move(staged.back());
    first.refine = [self = shared_from_this(), shape = *shape](std::vector<Candidate>& out) {
      for (const DepthBlock& block : self->depths_)
        for (const bool carried : {false, true})
          if (!carried || self->product_.blocks > 0) self->propose_staged(shape, block, carried, out);
    };
    out_.push_back(std::move(first));
  }
  std::vector<Opt> unroll_last() {
    const int copies = space_.copies_of_sum(product_);
    return copies > 1 ? std::vector<Opt>{Unroll{range_id(product_.reduced_ranges.back()), copies}} : std::vector<Opt>{};
  }
  /// The loop over blocks of the sum goes outside: what joins the blocks rests where it is stored, not in registers.
  LoopOrder carry_blocks(const Shape& shape) const {
    LoopOrder order;
    for (size_t i = 0; i < product_.blocks; ++i) order.loops.push_back({range_id(product_.reduced_ranges[i]), 0});
    std::vector<int> results = ir::mapped(shape.shares, [&](const RangeShare& s) { return range_id(s.range); });
    std::ranges::sort(results);
    for (int r : results) order.loops.push_back({r, 0});
    return order;
  }
  /// Blocks of about `most` reduced values: inner ranges as a whole, then a part of the next one.
  DepthBlock depth_block(int64_t most) {
    DepthBlock block;
    for (size_t i = product_.reduced_ranges.size(); i-- > product_.blocks;) {
      const UOp r = product_.reduced_ranges[i];
      const int64_t n = analysis_.size(r), part = most / block.depth;
      if (space_.is_fixed(r) || part == 0) break;
      if (n <= part) {
        block.whole.push_back(r);
        block.depth *= n;
        continue;
      }
      block.split = r;
      // Threads share powers of two. One that divides the range leaves no remainder.
      const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(part)));
      block.step = power > 1 && n % power && n % (power / 2) == 0 ? power / 2 : power;
      block.depth *= block.step;
      break;
    }
    return block;
  }

  /// Both factors in rings, the second factor staged, both: the last is the plainest that stages both.
  void propose_staged(const Shape& shape, const DepthBlock& block, bool carried, std::vector<Candidate>& out) {
    std::vector<Opt> split;
    if (carried) split.push_back(carry_blocks(shape));
    if (block.split) split.push_back(Split{range_id(block.split), block.step});
    auto add = [&](const std::vector<TileCopy>& copies, const std::vector<Opt>& also) {
      std::vector<Opt> more = split;
      more.insert(more.end(), copies.begin(), copies.end());
      more.insert(more.end(), also.begin(), also.end());
      out.push_back(make_candidate("product", space_, shape.shares, more));
    };
    const std::vector<StagedDim> dims[2] = {dims_of(0, shape, block), dims_of(1, shape, block)};
    const std::optional<TileCopy> copies[2] = {stage(0, shape, dims[0]), stage(1, shape, dims[1])};
    if (block.split && copies[0] && copies[1]) {
      const std::optional<TileCopy> rings[2] = {with_ring(*copies[0], dims[0]), with_ring(*copies[1], dims[1])};
      if (rings[0] && rings[1]) add({*rings[0], *rings[1]}, {});
    }
    if (copies[1]) add({*copies[1]}, unroll_last());
    if (copies[0] && copies[1]) add({*copies[0], *copies[1]}, {});
  }
  std::optional<TileCopy> stage(size_t side, const Shape& shape, const std::vector<StagedDim>& dims) {
    return dims.empty() ? std::nullopt : stage_value(space_, values_[side], dims, shape.threads, false);
  }
  /// The dims of a factor's tile: reduced ranges, then those that threads share, the closest in the result's memory
  /// last. Empty if the factor lacks one or the other.
  std::vector<StagedDim> dims_of(size_t side, const Shape& shape, const DepthBlock& block) {
    const UOp value = values_[side];
    std::vector<StagedDim> dims;
    if (block.split && analysis_.depends(value, block.split)) dims.push_back({block.split, 0, block.step, {}});
    for (auto it = block.whole.rbegin(); it != block.whole.rend(); ++it)
      if (analysis_.depends(value, *it)) dims.push_back({*it, -1, analysis_.size(*it), {}});
    const size_t reduced = dims.size();
    for (auto it = shape.shares.rbegin(); it != shape.shares.rend(); ++it)
      if (analysis_.depends(value, it->range)) dims.push_back({it->range, -1, it->width(), *it});
    return reduced == 0 || dims.size() == reduced ? std::vector<StagedDim>{} : dims;
  }

  TuneSpace& space_;
  KernelAnalysis& analysis_;
  const StatementAnalysis& product_;
  const std::array<UOp, 2> values_;
  const std::array<std::vector<UOp>, 2> sides_;
  const std::vector<UOp> parts_;
  std::vector<DepthBlock> depths_;
  std::set<std::string> met_;  ///< tiles: short sides make many alike
  std::vector<Candidate>& out_;
};

}  // namespace

void propose_products(TuneSpace& space, std::vector<Candidate>& out) {
  std::optional<ProductSides> sides = product_sides(space);
  // Steps of a tensor core have tiles of their own (mma_product.cpp).
  if (sides && !sides->product->node->reduction().tree.mma)
    std::make_shared<ProductGenerator>(space, std::move(*sides), out)->run();
}

}  // namespace sinter::codegen
