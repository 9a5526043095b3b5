// The threads of a block share the inner ranges. Threads that are left over share outer ranges. Products get a
// register tile per thread.
#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "codegen/kernel/ceil_div.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/nest/tile_copy.h"
#include "codegen/tune/heuristic/bank_conflicts.h"
#include "codegen/tune/heuristic/heuristic.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/materialize_rows.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int kThreads = 256;                 ///< threads of a block
constexpr int64_t kWideTile = 512;            ///< size of a product's range from which a thread has more copies
constexpr int kTileSide = 16;                 ///< threads along each side of a product's tile
constexpr int kDepth = 16;                    ///< reduced values whose operands are in shared memory together
constexpr int64_t kMaxStagingRegisters = 16;  ///< registers of a thread that stage an operand, at most
constexpr int64_t kMinStagedDepth = 64;       ///< depth of a reduction from which staging pays

int64_t ceil_power(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
}

/// The Opts of one range.
struct RangeShare {
  UOp range;
  int lanes = 1, unroll = 1, threads = 1, stride = 1;
};

class CudaHeuristic {
 public:
  /// `vectors`: whether threads may have lanes and unrolled copies. `stages`: whether a product's operands may go
  /// through shared memory. `multi_buffer`: whether they go through a ring of two slots.
  CudaHeuristic(const Kernel& kernel, const runtime::Target& target, bool vectors, bool stages, bool multi_buffer)
      : kernel_(kernel),
        shared_(target.shared / 2),
        vectors_(vectors),
        stages_(stages),
        multi_buffer_(multi_buffer),
        materializations_(legal_materializations(kernel, target, target.shared / 2)),
        analysis_(with_materialized(kernel, materializations_)) {
    fixed_ = sequential_ranges(kernel_, analysis_);
    for (const StatementAnalysis& w : analysis_.statements())
      for (UOp a : w.accesses) bytes_ = std::max(bytes_, static_cast<int>(size_of(a->src[0]->dtype)));
  }

  std::vector<Opt> run() {
    if (!tile_product()) {
      share_inner();
      share_outer();
    }
    std::vector<Opt> opts;
    for (const RangeShare& s : shares_) {
      if (s.lanes > 1) opts.push_back(Lanes{range_id(s.range), s.lanes});
      if (s.unroll > 1) opts.push_back(Unroll{range_id(s.range), s.unroll});
      if (s.threads > 1) opts.push_back(ThreadBind{range_id(s.range), s.threads, s.stride});
    }
    opts.insert(opts.end(), staged_.begin(), staged_.end());
    return add_materializations(kernel_, std::move(opts), materializations_);
  }

 private:
  bool shared(UOp range) const {
    return std::any_of(shares_.begin(), shares_.end(), [&](const RangeShare& s) { return s.range == range; });
  }

  /// Lanes that fill the widest access. 1 if an access is neither contiguous along the range nor independent of it;
  /// the accesses of `staged`, a REDUCE whose operands are staged, do not count. Rows must begin at whole vectors.
  int lanes_along(UOp range, const StatementAnalysis* staged = nullptr) {
    if (!vectors_) return 1;
    int lanes = std::max(1, 16 / bytes_);
    while (analysis_.size(range) % lanes) lanes /= 2;
    for (const StatementAnalysis& w : analysis_.statements())
      for (UOp a : w.accesses)
        if (const int64_t stride = analysis_.stride(a, range); &w != staged && stride != 0 && stride != 1) return 1;
    return lanes;
  }

  /// One product over outer ranges: a square of threads, each with some rows and some columns of the result.
  bool tile_product() {
    if (!vectors_) return false;
    const StatementAnalysis* product = nullptr;
    for (const StatementAnalysis& w : analysis_.statements()) {
      if (!w.is_reduce() || w.reduced_ranges.empty()) continue;
      if (product || w.chains() > 1) return false;
      product = &w;
    }
    if (!product || product->result_ranges.size() < 2 ||
        !std::all_of(product->result_ranges.begin(), product->result_ranges.end(), is_outer))
      return false;
    std::vector<UOp> reuse = reuse_ranges(analysis_, *product);
    std::erase_if(reuse, [&](UOp r) { return contains(fixed_, r) || analysis_.size(r) < kTileSide; });
    if (reuse.size() < 2) return false;
    // Columns are contiguous where the result is stored.
    std::sort(reuse.begin(), reuse.end(), [&](UOp a, UOp b) {
      return std::pair(-contiguous_accesses(a), range_id(a)) < std::pair(-contiguous_accesses(b), range_id(b));
    });
    const UOp columns = reuse[0], rows = *std::max_element(reuse.begin() + 1, reuse.end(), [&](UOp a, UOp b) {
                                    return analysis_.size(a) < analysis_.size(b);
                                  });
    auto share = [&](const StatementAnalysis* staged) {
      shares_ = {tile_share(columns, lanes_along(columns, staged)), tile_share(rows, 1)};
      shares_[1].stride = shares_[0].threads;
    };
    if (stages_) {
      share(product);
      stage_operands(*product, shares_[0], shares_[1]);
    }
    if (staged_.empty()) share(nullptr);
    return true;
  }
  /// Threads along one side of the square, each with some values of the range.
  RangeShare tile_share(UOp range, int lanes) const {
    const int64_t size = analysis_.size(range);
    const int copies = std::max(1, (size >= kWideTile ? 8 : 4) / lanes), each = lanes * copies;
    return {range, lanes, copies, static_cast<int>(std::min<int64_t>(kTileSide, ceil_power(ceil_div(size, each))))};
  }
  /// Blocks of both operands go through shared memory. Each is read from global memory once for all threads of the
  /// square.
  void stage_operands(const StatementAnalysis& product, const RangeShare& columns, const RangeShare& rows) {
    UOp summed = product.reduced_ranges.back();
    if (analysis_.size(summed) < kMinStagedDepth) return;
    std::vector<Opt> stages{Split{range_id(summed), kDepth}};
    const int threads = columns.threads * rows.threads;
    for (UOp value : values_of(product.node)) {
      const int number = node_index_of(kernel_, value);
      const bool across = analysis_.depends(value, columns.range);
      const RangeShare& share = across ? columns : rows;
      if (number < 0 || across == analysis_.depends(value, rows.range) || !analysis_.depends(value, summed)) return;
      // Consecutive threads copy neighboring elements.
      const bool along = is_contiguous_along(value, summed);
      const int block = share.lanes * share.unroll * share.threads;
      auto dim = [&](bool sum, int left, int stride) {
        TileCopy::CopyDim d{range_id(sum ? summed : share.range), sum ? 0 : -1};
        const int most = sum ? kDepth : block;
        const int64_t row = analysis_.size(
            sum ? summed : share.range);  // rows begin at whole vectors, or each thread copies single elements
        while (d.lanes * 2 <= 16 / bytes_ && most % (d.lanes * 2) == 0 && row % (d.lanes * 2) == 0 && stride == 1)
          d.lanes *= 2;
        d.threads = std::min(left, most / d.lanes);
        d.stride = d.threads > 1 ? stride : 1;
        return d;
      };
      const TileCopy::CopyDim near = dim(along, threads, 1), far = dim(!along, threads / near.threads, near.threads);
      stages.push_back(best_layout(TileCopy{number, {far, near}}, value->dtype, along ? kDepth : block, share));
    }
    staged_ = std::move(stages);
    if (multi_buffer_) add_multi_buffering();
  }
  /// The next block of each operand is loaded while the current one is multiplied, if both blocks fit shared memory
  /// and registers hold what a thread loads.
  void add_multi_buffering() {
    std::vector<Opt> list = staged_;
    int64_t bytes = 0;
    for (Opt& o : list) {
      TileCopy* tile_copy = std::get_if<TileCopy>(&o);
      if (!tile_copy) continue;
      int64_t held = 1, rows = 1, row = 1;
      for (TileCopy::CopyDim& d : tile_copy->dims) {
        d.unroll = static_cast<int>(block_of(d.range) / (int64_t{1} * d.lanes * d.threads));
        held *= int64_t{1} * d.lanes * d.unroll;
        rows *= row;
        row = block_of(d.range);
      }
      if (held > kMaxStagingRegisters) return;
      tile_copy->slots = 2;
      bytes += 2 * rows * (row + tile_copy->pad) * bytes_;
    }
    if (bytes <= shared_) staged_ = std::move(list);
  }
  /// Values of a range that are in shared memory together.
  int64_t block_of(int range) const {
    for (const RangeShare& s : shares_)
      if (range_id(s.range) == range) return int64_t{1} * s.lanes * s.unroll * s.threads;
    return kDepth;
  }
  /// The layout of an operand's tile that takes the fewest passes over the banks of shared memory, to fill and to
  /// read. Ties go to the layout of the operand itself, then to the simplest one. `along`: size of the dim along which
  /// the operand is contiguous.
  TileCopy best_layout(const TileCopy& plain, DType dtype, int64_t along, const RangeShare& share) {
    const int64_t all = int64_t{kDepth} * share.lanes * share.unroll * share.threads;
    TileCopy best = plain;
    int64_t fewest = std::numeric_limits<int64_t>::max();
    auto consider = [&](TileCopy tile_copy, int64_t columns) {
      auto walk = [](const TileCopy::CopyDim& d) { return ThreadWalk{d.lanes, d.threads, d.stride}; };
      // A thread reads its share of the range for each reduced value.
      auto read = [&](const TileCopy::CopyDim& d) {
        return d.range == range_id(share.range) ? ThreadWalk{share.lanes, share.threads, share.stride} : ThreadWalk{};
      };
      const TileCopy::CopyDim &row = tile_copy.dims[0], &column = tile_copy.dims[1];
      const int64_t fills = all / (int64_t{1} * row.lanes * row.threads * column.lanes * column.threads);
      const int64_t passes = fills * bank_passes(tile_copy, columns, dtype, walk(row), walk(column)) +
                             kDepth * share.unroll * bank_passes(tile_copy, columns, dtype, read(row), read(column));
      if (passes >= fewest) return;
      fewest = passes;
      best = std::move(tile_copy);
    };
    for (const bool transposed : {false, true}) {
      TileCopy tile_copy = plain;
      if (transposed) std::swap(tile_copy.dims[0], tile_copy.dims[1]);
      const int64_t columns = transposed ? all / along : along;
      const TileCopy::CopyDim& last = tile_copy.dims[1];
      const int vector = std::max(last.lanes, last.range == range_id(share.range) ? share.lanes : 1);
      consider(tile_copy, columns);
      for (const int pad : {16 / bytes_, 1}) {
        tile_copy.pad = pad;
        if (pad % vector == 0) consider(tile_copy, columns);
      }
      tile_copy.pad = 0;
      const int64_t period = swizzle_period(columns, dtype);
      if (columns % period) continue;
      tile_copy.swizzle_rows = 1;
      while (tile_copy.swizzle_rows < all / columns) tile_copy.swizzle_rows *= 2;
      for (; tile_copy.swizzle_rows >= 1;
           tile_copy.swizzle_rows /= 2)  // fewer distinct permutations take less arithmetic
        for (tile_copy.swizzle_unit = vector; tile_copy.swizzle_unit < period; tile_copy.swizzle_unit *= 2)
          consider(tile_copy, columns);
    }
    return best;
  }
  /// Whether a load of a value is contiguous along a range.
  bool is_contiguous_along(UOp value, UOp range) {
    const std::vector<UOp> below = ir::topological(value);
    return std::any_of(below.begin(), below.end(),
                       [&](UOp n) { return n->op == Op::Load && analysis_.stride(n, range) == 1; });
  }
  /// The number of accesses that are contiguous along a range. A store counts as four.
  int contiguous_accesses(UOp range) {
    int count = 0;
    for (const StatementAnalysis& w : analysis_.statements())
      for (UOp a : w.accesses)
        if (analysis_.stride(a, range) == 1) count += a->op == Op::Store ? 4 : 1;
    return count;
  }

  /// Binds threads to inner ranges. In each statement the contiguous range, or else the longest one, gets the threads.
  void share_inner() {
    std::vector<UOp> inner;
    for (UOp r : analysis_.ranges())
      if (!is_outer(r) && !contains(fixed_, r)) inner.push_back(r);
    auto rank = [&](UOp r) { return std::tuple(contiguous_accesses(r) == 0, -analysis_.size(r), range_id(r)); };
    std::sort(inner.begin(), inner.end(), [&](UOp a, UOp b) { return rank(a) < rank(b); });
    for (UOp r : inner) {
      int64_t chains = 0;  // the fewest chains of the reductions along r
      bool used = false, met = false;
      for (const StatementAnalysis& w : analysis_.statements()) {
        if (!w.runs_over(r)) continue;
        met |= std::any_of(shares_.begin(), shares_.end(), [&](const RangeShare& s) { return w.runs_over(s.range); });
        const bool own = contains(w.reduced_ranges, r);
        if (own ? w.chains() == 1 || !(w.reduced_ranges.back() == r) : summed_in_order(w, r)) continue;
        used = true;
        if (own) chains = chains ? std::min<int64_t>(chains, w.chains()) : w.chains();
      }
      if (!used || met) continue;
      // A reduction gets no lanes: they would be combined last, after each had gone through all threads.
      const int lanes = chains ? 1 : lanes_along(r);
      int64_t threads = std::min<int64_t>(kThreads, ceil_power(ceil_div(analysis_.size(r), lanes)));
      if (chains) threads = std::min(threads, chains);
      if (threads > 1) shares_.push_back({r, lanes, 1, static_cast<int>(threads), 1});
    }
  }

  /// Whether a reduction along a range, in one chain, reads w in its loop.
  bool summed_in_order(const StatementAnalysis& w, UOp range) const {
    return std::any_of(analysis_.statements().begin(), analysis_.statements().end(), [&](const StatementAnalysis& u) {
      return contains(u.reduced_ranges, range) && contains(u.sums, w.node) &&
             (u.chains() == 1 || !(u.reduced_ranges.back() == range));
    });
  }

  /// Binds the remaining threads of the block to outer ranges, the contiguous one first.
  void share_outer() {
    int64_t stride = 1;
    for (const RangeShare& s : shares_) stride = std::max<int64_t>(stride, s.threads);
    std::vector<UOp> outer;
    for (UOp r : analysis_.ranges())
      if (is_outer(r) && !contains(fixed_, r)) outer.push_back(r);
    std::sort(outer.begin(), outer.end(), [&](UOp a, UOp b) {
      return std::pair(-contiguous_accesses(a), -range_id(a)) < std::pair(-contiguous_accesses(b), -range_id(b));
    });
    const bool vectors = shares_.empty();
    for (UOp r : outer) {
      const int lanes = vectors && r == outer[0] && !sums_in_chains() ? lanes_along(r) : 1;
      const int64_t threads = std::min(kThreads / stride, ceil_power(ceil_div(analysis_.size(r), lanes)));
      if (threads > 1) shares_.push_back({r, lanes, 1, static_cast<int>(threads), static_cast<int>(stride)});
      stride *= threads;
    }
  }
  bool sums_in_chains() const {
    return std::any_of(analysis_.statements().begin(), analysis_.statements().end(),
                       [](const StatementAnalysis& w) { return w.chains() > 1; });
  }

  const Kernel& kernel_;
  const int64_t shared_;  ///< bytes of shared memory, half of it: a second block fits
  const bool vectors_, stages_, multi_buffer_;
  const std::vector<Materialize> materializations_;
  KernelAnalysis analysis_;  ///< of the kernel with materializations_
  int bytes_ = 1;
  std::vector<UOp> fixed_;
  std::vector<RangeShare> shares_;
  std::vector<Opt> staged_;
};

}  // namespace

std::vector<Opt> cuda_heuristic(const Kernel& kernel, const runtime::Target& target) {
  struct Variant {
    bool vectors, stages, multi_buffer;
  };
  for (const Variant t : {Variant{true, true, true}, Variant{true, true, false}, Variant{true, false, false},
                          Variant{false, false, false}}) {
    std::vector<Opt> opts = CudaHeuristic(kernel, target, t.vectors, t.stages, t.multi_buffer).run();
    if (is_legal(kernel, opts)) return opts;
  }
  return {};
}

}  // namespace sinter::codegen
