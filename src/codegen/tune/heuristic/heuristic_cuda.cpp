// A block of threads shares the ranges inside a point; what is left of its threads takes several points. Products get a
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

constexpr int kThreads = 256;        ///< of a block
constexpr int64_t kWideTile = 512;   ///< values of a product's range from which a thread has more copies
constexpr int kTileSide = 16;        ///< threads along each side of a product's tile
constexpr int kDepth = 16;           ///< summed values of a product's operands that lie in shared memory together
constexpr int64_t kHeld = 16;        ///< registers in which a thread keeps what it has fetched of an operand
constexpr int64_t kDeepEnough = 64;  ///< summed values from which that pays

int64_t ceil_power(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
}

/// What a range gets.
struct Share {
  UOp range;
  int lanes = 1, copies = 1, threads = 1, stride = 1;
};

class Chooser {
 public:
  /// `vectors`: whether threads may have lanes and copies. `stages`: whether a product's operands may go through shared
  /// memory; `slots`: through two slots of it in turn.
  Chooser(const Kernel& kernel, const runtime::Target& target, bool vectors, bool stages, bool slots)
      : kernel_(kernel),
        shared_(target.shared / 2),
        vectors_(vectors),
        stages_(stages),
        slots_(slots),
        rows_(legal_rows(kernel, target, target.shared / 2)),
        view_(with(kernel, rows_)) {
    fixed_ = ranges_in_order(kernel_, view_);
    for (const Work& w : view_.works())
      for (UOp a : w.accesses) bytes_ = std::max(bytes_, static_cast<int>(size_of(a->src[0]->dtype)));
  }

  std::vector<Opt> run() {
    if (!tile_product()) {
      share_inner();
      share_outer();
    }
    std::vector<Opt> opts;
    for (const Share& s : shares_) {
      if (s.lanes > 1) opts.push_back(Lanes{range_id(s.range), s.lanes});
      if (s.copies > 1) opts.push_back(Unroll{range_id(s.range), s.copies});
      if (s.threads > 1) opts.push_back(Local{range_id(s.range), s.threads, s.stride});
    }
    opts.insert(opts.end(), staged_.begin(), staged_.end());
    return add_rows(kernel_, std::move(opts), rows_);
  }

 private:
  bool shared(UOp range) const {
    return std::any_of(shares_.begin(), shares_.end(), [&](const Share& s) { return s.range == range; });
  }

  /// Lanes that fill the widest access, if all accesses move by one element or none, but for those of a REDUCE whose
  /// operands are staged, and rows begin at whole vectors.
  int lanes_along(UOp range, const Work* staged = nullptr) {
    if (!vectors_) return 1;
    int lanes = std::max(1, 16 / bytes_);
    while (view_.size(range) % lanes) lanes /= 2;
    for (const Work& w : view_.works())
      for (UOp a : w.accesses)
        if (const int64_t stride = view_.stride(a, range); &w != staged && stride != 0 && stride != 1) return 1;
    return lanes;
  }

  /// One product over outer ranges: a square of threads, each with some rows and some columns of the result.
  bool tile_product() {
    if (!vectors_) return false;
    const Work* product = nullptr;
    for (const Work& w : view_.works()) {
      if (!w.is_reduce() || w.own.empty()) continue;
      if (product || w.chains() > 1) return false;
      product = &w;
    }
    if (!product || product->outs.size() < 2 || !std::all_of(product->outs.begin(), product->outs.end(), is_outer))
      return false;
    std::vector<UOp> reuse = reuse_ranges(view_, *product);
    std::erase_if(reuse, [&](UOp r) { return in(fixed_, r) || view_.size(r) < kTileSide; });
    if (reuse.size() < 2) return false;
    // Columns lie side by side where the result is stored.
    std::sort(reuse.begin(), reuse.end(),
              [&](UOp a, UOp b) { return std::pair(-along(a), range_id(a)) < std::pair(-along(b), range_id(b)); });
    const UOp columns = reuse[0], rows = *std::max_element(reuse.begin() + 1, reuse.end(),
                                                           [&](UOp a, UOp b) { return view_.size(a) < view_.size(b); });
    auto share = [&](const Work* staged) {
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
  Share tile_share(UOp range, int lanes) const {
    const int64_t size = view_.size(range);
    const int copies = std::max(1, (size >= kWideTile ? 8 : 4) / lanes), each = lanes * copies;
    return {range, lanes, copies, static_cast<int>(std::min<int64_t>(kTileSide, ceil_power(ceil_div(size, each))))};
  }
  /// Blocks of both operands in shared memory: each is read from the device's memory once for all threads of the
  /// square.
  void stage_operands(const Work& product, const Share& columns, const Share& rows) {
    UOp summed = product.own.back();
    if (view_.size(summed) < kDeepEnough) return;
    std::vector<Opt> stages{Split{range_id(summed), kDepth}};
    const int threads = columns.threads * rows.threads;
    for (UOp value : values_of(product.node)) {
      const int number = number_of(kernel_, value);
      const bool across = view_.depends(value, columns.range);
      const Share& share = across ? columns : rows;
      if (number < 0 || across == view_.depends(value, rows.range) || !view_.depends(value, summed)) return;
      // Threads that follow one another copy neighbours.
      const bool along = side_by_side(value, summed);
      const int block = share.lanes * share.copies * share.threads;
      auto dim = [&](bool sum, int left, int stride) {
        Stage::Dim d{range_id(sum ? summed : share.range), sum ? 0 : -1};
        const int most = sum ? kDepth : block;
        const int64_t row =
            view_.size(sum ? summed : share.range);  // begins at whole vectors, or each thread takes single elements
        while (d.lanes * 2 <= 16 / bytes_ && most % (d.lanes * 2) == 0 && row % (d.lanes * 2) == 0 && stride == 1)
          d.lanes *= 2;
        d.threads = std::min(left, most / d.lanes);
        d.stride = d.threads > 1 ? stride : 1;
        return d;
      };
      const Stage::Dim near = dim(along, threads, 1), far = dim(!along, threads / near.threads, near.threads);
      stages.push_back(laid_out(Stage{number, {far, near}}, value->dtype, along ? kDepth : block, share));
    }
    staged_ = std::move(stages);
    if (slots_) add_slots();
  }
  /// The next block of each operand is fetched while the present one is multiplied, if both blocks fit, and registers
  /// hold what a thread fetches.
  void add_slots() {
    std::vector<Opt> list = staged_;
    int64_t bytes = 0;
    for (Opt& o : list) {
      Stage* stage = std::get_if<Stage>(&o);
      if (!stage) continue;
      int64_t held = 1, rows = 1, row = 1;
      for (Stage::Dim& d : stage->dims) {
        d.unroll = static_cast<int>(block_of(d.range) / (int64_t{1} * d.lanes * d.threads));
        held *= int64_t{1} * d.lanes * d.unroll;
        rows *= row;
        row = block_of(d.range);
      }
      if (held > kHeld) return;
      stage->slots = 2;
      bytes += 2 * rows * (row + stage->pad) * bytes_;
    }
    if (bytes <= shared_) staged_ = std::move(list);
  }
  /// Values of a range that lie in shared memory together.
  int64_t block_of(int range) const {
    for (const Share& s : shares_)
      if (range_id(s.range) == range) return int64_t{1} * s.lanes * s.copies * s.threads;
    return kDepth;
  }
  /// The layout of an operand's tile for which its filling and its reading take the fewest passes over the banks of
  /// shared memory; of equal ones that which lies as the operand does, and is simplest. `along`: values of the dim
  /// along which it lies side by side.
  Stage laid_out(const Stage& plain, DType dtype, int64_t along, const Share& share) {
    const int64_t all = int64_t{kDepth} * share.lanes * share.copies * share.threads;
    Stage best = plain;
    int64_t fewest = std::numeric_limits<int64_t>::max();
    auto consider = [&](Stage stage, int64_t columns) {
      auto walk = [](const Stage::Dim& d) { return Walk{d.lanes, d.threads, d.stride}; };
      // A thread reads its share of the range for each value of the sum.
      auto read = [&](const Stage::Dim& d) {
        return d.range == range_id(share.range) ? Walk{share.lanes, share.threads, share.stride} : Walk{};
      };
      const Stage::Dim &row = stage.dims[0], &column = stage.dims[1];
      const int64_t fills = all / (int64_t{1} * row.lanes * row.threads * column.lanes * column.threads);
      const int64_t passes = fills * bank_passes(stage, columns, dtype, walk(row), walk(column)) +
                             kDepth * share.copies * bank_passes(stage, columns, dtype, read(row), read(column));
      if (passes >= fewest) return;
      fewest = passes;
      best = std::move(stage);
    };
    for (const bool turned : {false, true}) {
      Stage stage = plain;
      if (turned) std::swap(stage.dims[0], stage.dims[1]);
      const int64_t columns = turned ? all / along : along;
      const Stage::Dim& last = stage.dims[1];
      const int vector = std::max(last.lanes, last.range == range_id(share.range) ? share.lanes : 1);
      consider(stage, columns);
      for (const int pad : {16 / bytes_, 1}) {
        stage.pad = pad;
        if (pad % vector == 0) consider(stage, columns);
      }
      stage.pad = 0;
      const int64_t period = swizzle_period(columns, dtype);
      if (columns % period) continue;
      stage.rows = 1;
      while (stage.rows < all / columns) stage.rows *= 2;
      for (; stage.rows >= 1; stage.rows /= 2)  // the fewer different places, the less arithmetic
        for (stage.unit = vector; stage.unit < period; stage.unit *= 2) consider(stage, columns);
    }
    return best;
  }
  /// Whether what a value loads lies side by side along a range.
  bool side_by_side(UOp value, UOp range) {
    const std::vector<UOp> below = ir::topological(value);
    return std::any_of(below.begin(), below.end(),
                       [&](UOp n) { return n->op == Op::Load && view_.stride(n, range) == 1; });
  }
  /// How many accesses go on by one element along a range; stores count most.
  int along(UOp range) {
    int count = 0;
    for (const Work& w : view_.works())
      for (UOp a : w.accesses)
        if (view_.stride(a, range) == 1) count += a->op == Op::Store ? 4 : 1;
    return count;
  }

  /// Ranges inside a point: of each statement the one that lies in order, or the longest, takes the threads from the
  /// first on.
  void share_inner() {
    std::vector<UOp> inner;
    for (UOp r : view_.ranges())
      if (!is_outer(r) && !in(fixed_, r)) inner.push_back(r);
    auto rank = [&](UOp r) { return std::tuple(along(r) == 0, -view_.size(r), range_id(r)); };
    std::sort(inner.begin(), inner.end(), [&](UOp a, UOp b) { return rank(a) < rank(b); });
    for (UOp r : inner) {
      int64_t chains = 0;  // the fewest of the sums along it
      bool used = false, met = false;
      for (const Work& w : view_.works()) {
        if (!w.runs_over(r)) continue;
        met |= std::any_of(shares_.begin(), shares_.end(), [&](const Share& s) { return w.runs_over(s.range); });
        const bool own = in(w.own, r);
        if (own ? w.chains() == 1 || !(w.own.back() == r) : summed_in_order(w, r)) continue;
        used = true;
        if (own) chains = chains ? std::min<int64_t>(chains, w.chains()) : w.chains();
      }
      if (!used || met) continue;
      // Lanes would be combined last, after each of them had gone through all threads.
      const int lanes = chains ? 1 : lanes_along(r);
      int64_t threads = std::min<int64_t>(kThreads, ceil_power(ceil_div(view_.size(r), lanes)));
      if (chains) threads = std::min(threads, chains);
      if (threads > 1) shares_.push_back({r, lanes, 1, static_cast<int>(threads), 1});
    }
  }

  /// Whether a sum that goes along a range in one chain reads w in its loop.
  bool summed_in_order(const Work& w, UOp range) const {
    return std::any_of(view_.works().begin(), view_.works().end(), [&](const Work& u) {
      return in(u.own, range) && in(u.sums, w.node) && (u.chains() == 1 || !(u.own.back() == range));
    });
  }

  /// What is left of the block's threads: outer ranges, from the one that lies in order on.
  void share_outer() {
    int64_t stride = 1;
    for (const Share& s : shares_) stride = std::max<int64_t>(stride, s.threads);
    std::vector<UOp> outer;
    for (UOp r : view_.ranges())
      if (is_outer(r) && !in(fixed_, r)) outer.push_back(r);
    std::sort(outer.begin(), outer.end(),
              [&](UOp a, UOp b) { return std::pair(-along(a), -range_id(a)) < std::pair(-along(b), -range_id(b)); });
    const bool vectors = shares_.empty();
    for (UOp r : outer) {
      const int lanes = vectors && r == outer[0] && !sums_in_chains() ? lanes_along(r) : 1;
      const int64_t threads = std::min(kThreads / stride, ceil_power(ceil_div(view_.size(r), lanes)));
      if (threads > 1) shares_.push_back({r, lanes, 1, static_cast<int>(threads), static_cast<int>(stride)});
      stride *= threads;
    }
  }
  bool sums_in_chains() const {
    return std::any_of(view_.works().begin(), view_.works().end(), [](const Work& w) { return w.chains() > 1; });
  }

  const Kernel& kernel_;
  const int64_t shared_;  ///< bytes that leave room for a second block
  const bool vectors_, stages_, slots_;
  const std::vector<Row> rows_;
  View view_;  ///< with these rows
  int bytes_ = 1;
  std::vector<UOp> fixed_;
  std::vector<Share> shares_;
  std::vector<Opt> staged_;
};

}  // namespace

std::vector<Opt> cuda_heuristic(const Kernel& kernel, const runtime::Target& target) {
  struct Try {
    bool vectors, stages, slots;
  };
  for (const Try t :
       {Try{true, true, true}, Try{true, true, false}, Try{true, false, false}, Try{false, false, false}}) {
    std::vector<Opt> opts = Chooser(kernel, target, t.vectors, t.stages, t.slots).run();
    if (is_legal(kernel, opts)) return opts;
  }
  return {};
}

}  // namespace sinter::codegen
