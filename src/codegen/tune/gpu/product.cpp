// A product's results form a rectangle: ranges of the first factor along one side, ranges of the second along the
// other. A thread has some copies along both sides; blocks of the factors go through shared memory, each element read
// once for all threads of the rectangle.
#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "codegen/kernel/access.h"
#include "codegen/kernel/ceil_div.h"
#include "codegen/nest/tile_copy.h"
#include "codegen/normalize/predicates.h"
#include "codegen/tune/gpu/bank_conflicts.h"
#include "codegen/tune/gpu/candidates.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int64_t kMaxStagingRegisters = 16;  ///< registers of a thread that stage an operand, at most
constexpr int64_t kMaxUnrolled = 8;           ///< length of a reduced range up to which it is unrolled as a whole
constexpr int kMinThreads = 32, kMaxThreads = 256;

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

class ProductGenerator {
 public:
  ProductGenerator(TuneSpace& space, const StatementAnalysis& product, std::vector<Candidate>& out)
      : space_(space), analysis_(space.analysis), product_(product), out_(out) {
    // A predicate that both factors share skips the step; a factor's tile holds the value without it.
    for (UOp value : values_of(product.node)) values_.push_back(without_predicate(value));
    for (const StatementAnalysis& w : analysis_.statements())
      if (!w.is_reduce()) store_ = w.node;
    for (size_t i = 0; i < 2; ++i)
      for (UOp r : product.result_ranges)
        if (!space_.is_fixed(r) && analysis_.depends(values_[i], r) && !analysis_.depends(values_[1 - i], r))
          sides_[i].push_back(r);
    for (std::vector<UOp>& side : sides_)
      std::sort(side.begin(), side.end(), [&](UOp a, UOp b) {
        return std::pair(distance(a), range_id(a)) < std::pair(distance(b), range_id(b));
      });
    if (!sides_[0].empty() && !sides_[1].empty() && distance(sides_[1][0]) < distance(sides_[0][0])) {
      std::swap(sides_[0], sides_[1]);
      std::swap(values_[0], values_[1]);
    }
  }

  void run() {
    if (sides_[0].empty() || sides_[1].empty()) return;
    for (const int64_t most : {8, 16, 32})
      if (DepthBlock block = depth_block(most);
          block.depth > 1 && (depths_.empty() || block.depth > depths_.back().depth))
        depths_.push_back(std::move(block));
    static constexpr SideSize kColumns[] = {{8, 16}, {4, 16}, {8, 8}, {4, 8}, {4, 32}, {8, 32}, {4, 64}};
    for (const SideSize& columns : kColumns)
      for (const int copies : {1, 2, 4, 8})
        for (const int threads : {1, 2, 4, 8, 16, 32}) propose(columns, {copies, threads});
  }

 private:
  /// By how much a step along the range moves the store; ranges that the store lacks come last.
  int64_t distance(UOp r) {
    if (!store_) return 0;
    const int64_t stride = analysis_.stride(store_, r);
    return stride == 0 || stride == KernelAnalysis::kScattered ? std::numeric_limits<int64_t>::max() : std::abs(stride);
  }

  /// Gives copies and threads to the ranges of a side, the closest in memory first. False if the side is too short.
  bool share_side(const std::vector<UOp>& side, SideSize size, int& stride, bool vectors, bool staged,
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
      if (copies <= 1 && threads <= 1) return true;
    }
    return copies <= 1 && threads <= 1;
  }

  void propose(SideSize columns, SideSize rows) {
    for (const bool staged : {true, false}) {
      std::vector<RangeShare> shares;
      int threads = 1;
      if (!share_side(sides_[0], columns, threads, true, staged, shares)) return;
      across_ = shares.size();
      if (!share_side(sides_[1], rows, threads, false, staged, shares)) return;
      if (threads < kMinThreads || threads > kMaxThreads) return;
      if (!fills_machine(shares)) return;
      shares_ = std::move(shares);
      threads_ = threads;
      std::vector<Opt> unrolled;
      if (const UOp last = product_.reduced_ranges.back(); analysis_.size(last) <= kMaxUnrolled && !space_.is_fixed(last))
        unrolled.push_back(Unroll{range_id(last), static_cast<int>(analysis_.size(last))});
      if (!staged) {
        out_.push_back(make_candidate("product", space_, shares_, unrolled));
        continue;
      }
      for (const DepthBlock& block : depths_) {
        carried_.clear();
        propose_staged(block, unrolled);
        if (product_.blocks == 0) continue;
        carry_blocks();
        propose_staged(block, unrolled);
      }
    }
  }
  /// The loop over blocks of the sum goes outside: what joins the blocks rests where it is stored, not in registers.
  void carry_blocks() {
    LoopOrder order;
    for (size_t i = 0; i < product_.blocks; ++i) order.loops.push_back({range_id(product_.reduced_ranges[i]), 0});
    std::vector<int> results;
    for (const RangeShare& s : shares_) results.push_back(range_id(s.range));
    std::sort(results.begin(), results.end());
    for (int r : results) order.loops.push_back({r, 0});
    carried_ = {order};
  }
  /// Whether there is a block for every other multiprocessor, or the tile is small.
  bool fills_machine(const std::vector<RangeShare>& shares) {
    int64_t blocks = 1, tile = 1;
    for (UOp r : product_.result_ranges) {
      int64_t width = 1;
      for (const RangeShare& s : shares)
        if (s.range == r) width = s.width();
      blocks *= ceil_div(analysis_.size(r), width);
      tile *= width;
    }
    return tile <= 1024 || 2 * blocks >= space_.target.threads;
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

  void propose_staged(const DepthBlock& block, const std::vector<Opt>& unrolled) {
    std::vector<Opt> split = carried_;
    if (block.split) split.push_back(Split{range_id(block.split), block.step});
    std::optional<TileCopy> copies[2] = {copy_of(0, block), copy_of(1, block)};
    auto add = [&](const std::vector<Opt>& copies_made, const std::vector<Opt>& also) {
      std::vector<Opt> more = split;
      more.insert(more.end(), copies_made.begin(), copies_made.end());
      more.insert(more.end(), also.begin(), also.end());
      out_.push_back(make_candidate("product", space_, shares_, more));
    };
    if (copies[0] && copies[1]) {
      add({*copies[0], *copies[1]}, {});
      if (block.split && held(*copies[0], block) <= kMaxStagingRegisters &&
          held(*copies[1], block) <= kMaxStagingRegisters) {
        std::vector<Opt> ring;
        for (std::optional<TileCopy>& c : copies) {
          TileCopy two = *c;
          two.slots = 2;
          for (TileCopy::CopyDim& d : two.dims)
            d.unroll = static_cast<int>(extent_of(d.range, block) / (int64_t{1} * d.lanes * d.threads));
          ring.emplace_back(two);
        }
        add(ring, {});
      }
    }
    if (copies[1]) add({*copies[1]}, unrolled);
  }

  /// Values of a range that are in shared memory together.
  int64_t extent_of(int range, const DepthBlock& block) {
    for (const RangeShare& s : shares_)
      if (range_id(s.range) == range) return s.width();
    if (block.split && range_id(block.split) == range) return block.step;
    for (UOp r : block.whole)
      if (range_id(r) == range) return analysis_.size(r);
    return 1;
  }
  int64_t held(const TileCopy& copy, const DepthBlock& block) {
    int64_t n = 1;
    for (const TileCopy::CopyDim& d : copy.dims) n *= ceil_div(extent_of(d.range, block), d.threads);
    return n;
  }

  /// The copy of a factor in the layout with the fewest passes over the banks.
  std::optional<TileCopy> copy_of(size_t side, const DepthBlock& block) {
    const UOp value = values_[side];
    const int number = node_index_of(space_.kernel, value);
    if (number < 0) return std::nullopt;
    std::vector<UOp> ranges;  // the last is contiguous in the tile
    for (auto it = block.whole.rbegin(); it != block.whole.rend(); ++it)
      if (analysis_.depends(value, *it)) ranges.push_back(*it);
    if (block.split && analysis_.depends(value, block.split)) ranges.insert(ranges.begin(), block.split);
    const size_t reduced = ranges.size();
    for (size_t i = shares_.size(); i-- > 0;)
      if ((i < across_) == (side == 0)) ranges.push_back(shares_[i].range);
    if (reduced == 0 || ranges.size() == reduced) return std::nullopt;
    UOp near;  // along which memory is contiguous
    for (UOp r : ranges)
      if (is_contiguous_along(value, r)) near = r;
    std::optional<TileCopy> best;
    int64_t fewest = std::numeric_limits<int64_t>::max();
    for (const bool turned : {false, true}) {
      if (turned && (!near || near == ranges.back())) continue;
      if (turned) {
        std::erase(ranges, near);
        ranges.push_back(near);
      }
      TileCopy copy{number, {}};
      for (UOp r : ranges)
        copy.dims.push_back({range_id(r), block.split && r == block.split ? 0 : -1});
      distribute(copy, near ? range_id(near) : copy.dims.back().range, block, value->dtype);
      consider_layouts(copy, value->dtype, block, best, fewest);
    }
    return best;
  }
  /// Threads along the contiguous range first, then along the others from the last to the first.
  void distribute(TileCopy& copy, int near, const DepthBlock& block, DType dtype) {
    std::vector<TileCopy::CopyDim*> dims;
    for (TileCopy::CopyDim& d : copy.dims) dims.push_back(&d);
    std::sort(dims.begin(), dims.end(), [&](const TileCopy::CopyDim* a, const TileCopy::CopyDim* b) {
      return std::pair(a->range != near, b) < std::pair(b->range != near, a);
    });
    int64_t left = threads_, stride = 1;
    for (TileCopy::CopyDim* d : dims) {
      const int64_t extent = extent_of(d->range, block);
      if (d->range == near) {
        const int64_t row = size_of_range(near);
        while (d->lanes * 2 <= 16 / static_cast<int64_t>(size_of(dtype)) && extent % (d->lanes * 2) == 0 &&
               row % (d->lanes * 2) == 0)
          d->lanes *= 2;
      }
      int64_t threads = std::min(left, extent / d->lanes);
      while (left % threads || extent / d->lanes % threads) --threads;
      d->threads = static_cast<int>(threads);
      d->stride = threads > 1 ? static_cast<int>(stride) : 1;
      left /= threads;
      stride *= threads;
      int64_t copies = extent / (d->lanes * threads);
      while (copies > kMaxUnrolled) {
        int64_t k = kMaxUnrolled;
        while (copies % k) --k;
        copies = k;
      }
      d->unroll = static_cast<int>(std::max<int64_t>(copies, 1));
    }
  }
  int64_t size_of_range(int range) {
    for (UOp r : analysis_.ranges())
      if (range_id(r) == range) return analysis_.size(r);
    return 1;
  }
  void consider_layouts(TileCopy copy, DType dtype, const DepthBlock& block, std::optional<TileCopy>& best,
                        int64_t& fewest) {
    std::vector<ThreadWalk> fill, read;
    int64_t fills = 1, reads = 1, rows = 1;
    for (const TileCopy::CopyDim& d : copy.dims) {
      const int64_t extent = extent_of(d.range, block);
      fill.push_back({extent, d.lanes, d.threads, d.stride});
      fills *= ceil_div(extent, int64_t{1} * d.lanes * d.threads);
      read.push_back({extent});
      const auto s = std::find_if(shares_.begin(), shares_.end(),
                                  [&](const RangeShare& share) { return range_id(share.range) == d.range; });
      if (s != shares_.end()) {
        read.back() = {extent, s->lanes, s->threads, s->stride};
        reads *= s->unroll;
      } else {
        reads *= extent;
      }
      rows *= extent;
    }
    const int64_t columns = fill.back().extent;
    rows /= columns;
    auto consider = [&](const TileCopy& layout) {
      const int64_t passes = fills * bank_passes(layout, dtype, fill) + reads * bank_passes(layout, dtype, read);
      if (passes >= fewest) return;
      fewest = passes;
      best = layout;
    };
    const int vector = std::max(fill.back().lanes, read.back().lanes);
    consider(copy);
    if (rows == 1) return;
    for (const int pad : {static_cast<int>(16 / size_of(dtype)), 1}) {
      copy.pad = pad;
      if (pad % vector == 0) consider(copy);
    }
    copy.pad = 0;
    const int64_t period = swizzle_period(columns, dtype);
    if (columns % period) return;
    copy.swizzle_rows = 1;
    while (copy.swizzle_rows < rows) copy.swizzle_rows *= 2;
    for (; copy.swizzle_rows >= 1; copy.swizzle_rows /= 2)  // fewer distinct permutations take less arithmetic
      for (copy.swizzle_unit = vector; copy.swizzle_unit < period; copy.swizzle_unit *= 2) consider(copy);
  }
  /// Whether a load of a value is contiguous along a range.
  bool is_contiguous_along(UOp value, UOp range) {
    const std::vector<UOp> below = ir::topological(value);
    return std::any_of(below.begin(), below.end(),
                       [&](UOp n) { return n->op == Op::Load && analysis_.stride(n, range) == 1; });
  }

  TuneSpace& space_;
  KernelAnalysis& analysis_;
  const StatementAnalysis& product_;
  std::vector<UOp> values_;
  std::vector<UOp> sides_[2];  ///< columns, which are close in the result's memory, and rows
  UOp store_;
  std::vector<RangeShare> shares_;  ///< the first across_ are of the columns
  size_t across_ = 0;
  int threads_ = 1;
  std::vector<DepthBlock> depths_;
  std::vector<Opt> carried_;  ///< a LoopOrder, or nothing
  std::vector<Candidate>& out_;
};

}  // namespace

void propose_products(TuneSpace& space, std::vector<Candidate>& out) {
  const StatementAnalysis* product = nullptr;
  for (const StatementAnalysis& w : space.analysis.statements()) {
    if (!w.is_reduce() || w.reduced_ranges.empty()) continue;
    if (product || w.chains() > 1) return;
    product = &w;
  }
  if (!product || values_of(product->node).size() != 2 ||
      !std::all_of(product->result_ranges.begin(), product->result_ranges.end(), is_outer))
    return;
  ProductGenerator(space, *product, out).run();
}

}  // namespace sinter::codegen
