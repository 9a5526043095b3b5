// Decisions in order: rows to keep, which make statements of their own; the register tiles of products that most of the
// time goes into, then lanes for what is left, copies that follow from them, and how much a point of the launch covers.
#include "codegen/heuristic.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "codegen/blocking.h"
#include "codegen/lanes.h"
#include "codegen/loop_tree.h"
#include "codegen/memory_node.h"
#include "codegen/register_tile.h"
#include "codegen/rest.h"
#include "codegen/rows.h"
#include "codegen/rows_ahead.h"
#include "codegen/schedule.h"
#include "codegen/streaming.h"
#include "codegen/streams_ahead.h"
#include "codegen/tile.h"
#include "codegen/transpose.h"
#include "codegen/view.h"
#include "uop/short_float.h"
#include "uop/walk.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int64_t kShortLoop = 4;       ///< values of a loop that may become copies
constexpr int64_t kShortWindow = 9;     ///< the same of a window, each of whose places is then a known one
constexpr double kPoint = 1 << 14;      ///< cycles that a point should take, so that a launch of points costs little
constexpr double kLongestPoint = 16 * kPoint;  ///< cycles above which there are rather more points
constexpr double kTurns = 2;            ///< points per parallel unit, so that every thread has its share several times
constexpr double kProductRows = 96;     ///< values of a product's first range that a point covers at most
constexpr double kPanelRows = 1024;     ///< and where many panels pass by, which each point reads again
constexpr double kProductShare = 6;     ///< a product that takes less than such a part of the time gets no tile,
constexpr double kShortProduct = kPoint / 16;  ///< nor one of fewer cycles
constexpr double kLongCode = 240;       ///< operations of a loop body above which it is not copied
constexpr double kLongTransposed = 320; ///< the same of copies whose vectors are transposed
/// Part of the last cache that what is stored to many rows at a time fills, so that it goes past it: no hardware asks for those lines ahead.
constexpr double kScatteredRows = .5;
constexpr int64_t kStreamedRow = 256;   ///< bytes of each row that a transpose touches at once where it goes through memory,
constexpr int64_t kStreamedLine = 64;   ///< and fewest with which its stores go past the caches
constexpr int kTurnedSum = 4;           ///< copies of a sum whose operands are transposed
constexpr int kChains = 4;              ///< sums side by side of which each goes one by one
constexpr int kSomeChains = 4;          ///< independent sums in a loop body above which it needs two copies at most,
constexpr int kManyChains = 12;         ///< and above which it needs none

class Chooser {
 public:
  Chooser(const Kernel& kernel, const runtime::Target& target)
      : kernel_(kernel), target_(target), rows_(legal_rows(kernel, 4 * kLargestTile)), view_(with(kernel, rows_)) {}

  std::vector<Opt> run() {
    choose_width();
    fixed_ = ranges_in_order(kernel_, view_);
    choose_products();
    for (UOp r : choose_lanes(view_, lanes_, fixed_, vectors_)) set_lanes(r);
    choose_transposes();
    if (std::vector<Opt> streamed = stream(); !streamed.empty()) return streamed;
    choose_chains();
    choose_shared();
    choose_short();
    choose_copies();
    if (std::vector<Opt> packed = pack(); !packed.empty()) return turn_sums(std::move(packed));
    stage_operands();
    choose_blocks();
    choose_nontemporal();
    return ask_ahead(turn_sums(add_rows(kernel_, std::move(opts_), rows_)));
  }

 private:
  struct Product {
    const Work* work;
    RegisterTile tile;
  };

  Width& width(UOp range) {
    auto it = std::find_if(widths_.begin(), widths_.end(), [&](const Width& w) { return w.range == range; });
    return it == widths_.end() ? widths_.emplace_back(Width{range}) : *it;
  }
  int64_t width_of(UOp range) const {
    auto it = std::find_if(widths_.begin(), widths_.end(), [&](const Width& w) { return w.range == range; });
    return it == widths_.end() ? 1 : it->all();
  }

  /// As many lanes as elements of the kernel's usual size, as they are computed with, fill a register.
  void choose_width() {
    size_t bytes = 1;
    for (const Work& w : view_.works())
      for (UOp a : w.accesses) bytes = std::max(bytes, size_of(ir::compute_type(a->src[0]->dtype)));
    lanes_ = std::max(1, target_.vector_bytes / static_cast<int>(std::clamp<size_t>(bytes, 1, 4)));
    if (std::all_of(view_.works().begin(), view_.works().end(), [](const Work& w) {
          return size_of(w.node->src[0]->op == Op::Param ? w.node->src[0]->dtype : w.node->dtype) == 8;
        }))
      lanes_ = std::max(1, target_.vector_bytes / 8);
  }

  // ---- products
  double cycles(const Work& w) const {
    return w.iterations * (w.operations + static_cast<double>(w.accesses.size()));
  }
  /// Those that are worth longer code: the busiest first; the others keep to what it gave the ranges that they share.
  void choose_products() {
    double all = 0;
    for (const Work& w : view_.works()) all += cycles(w);
    std::vector<const Work*> products;
    for (const Work& w : view_.works())
      if (w.is_reduce() && cycles(w) >= std::max(all / kProductShare, kShortProduct) && !w.own.empty() &&
          w.sums.empty() && !reuse_of(view_, w).empty())
        products.push_back(&w);
    std::sort(products.begin(), products.end(), [&](const Work* a, const Work* b) {
      return std::pair(-cycles(*a), a) < std::pair(-cycles(*b), b);  // equal ones as they stand
    });
    for (const Work* w : products) {
      const RegisterTile tile = pick_tile(view_, *w, lanes_, target_, fixed_, widths_);
      if (tile.cycles == 0) continue;
      products_.push_back({w, tile});
      if (tile.lanes && !in(vectors_, tile.lanes)) set_lanes(tile.lanes);
      if (tile.first) width(tile.first).copies = tile.rows;
      if (tile.second) width(tile.second).copies = tile.columns;
      if (tile.turned > 1) width(w->own.back()).copies = tile.turned;
    }
  }
  /// Whether the copies of a range are those of a product.
  bool tiled(UOp range) const {
    return std::any_of(products_.begin(), products_.end(), [&](const Product& p) {
      return p.tile.lanes == range || p.tile.first == range || p.tile.second == range;
    });
  }

  void set_lanes(UOp range) {
    int lanes = lanes_;
    while (lanes > 2 && lanes / 2 >= view_.size(range)) lanes /= 2;
    width(range).lanes = lanes;
    vectors_.push_back(range);
  }
  // ---- transposes
  /// Where a store reads or writes memory strided along its lanes, a range along which that lies side by side gets as many copies as
  /// a register has lanes: whole lines are used at once. Nothing long is summed along it.
  void choose_transposes() {
    for (const Work& w : view_.works()) {
      if (w.is_reduce()) continue;
      const auto vector = std::find_if(vectors_.begin(), vectors_.end(), [&](UOp v) { return in(w.outs, v); });
      if (vector == vectors_.end() || tiled(*vector)) continue;
      for (UOp a : w.accesses) {
        const int64_t stride = view_.stride(a, *vector);
        if (stride == 0 || stride == 1 || stride == View::kScattered) continue;
        for (UOp r : w.outs)
          if (!(r == *vector) && view_.stride(a, r) == 1) transpose(w, a, *vector, r);
      }
    }
  }
  void transpose(const Work& w, UOp access, UOp vector, UOp range) {
    const bool summed = std::any_of(view_.works().begin(), view_.works().end(), [&](const Work& other) {
      return other.is_reduce() && other.runs_over(range) && !(one_by_one(other) && view_.size(range) <= kShortLoop);
    });
    if (summed || tiled(range) || in(fixed_, range) || in(vectors_, range) || width_of(range) > 1) return;
    const auto bytes = static_cast<int64_t>(size_of(access->src[0]->dtype));
    const bool streams = static_cast<double>(bytes) * w.iterations >= kScatteredRows * static_cast<double>(target_.l3);
    int copies = static_cast<int>(streams ? std::min<int64_t>(64, kStreamedRow / bytes) : std::min(16, width(vector).lanes));
    while (copies > 4 && copies * w.operations > kLongTransposed) copies /= 2;
    while (copies / 2 >= view_.size(range)) copies /= 2;
    if (copies < 2) return;
    scattered_ |= streams && copies * bytes >= kStreamedLine;
    width(range).copies = copies;
    transposed_.push_back(vector);
  }

  /// A sum that reads memory strided along its lanes, and side by side along the last range that it closes, gets copies of that: small
  /// matrices are transposed in registers.
  std::vector<Opt> turn_sums(std::vector<Opt> opts) {
    for (const Work& w : view_.works()) {
      const auto vector = std::find_if(vectors_.begin(), vectors_.end(), [&](UOp v) { return in(w.outs, v); });
      if (!w.is_reduce() || w.own.empty() || vector == vectors_.end() || w.chains() > 1 || kTurnedSum * w.operations > kLongTransposed) continue;
      UOp r = w.own.back();
      const bool across = std::any_of(w.accesses.begin(), w.accesses.end(), [&](UOp a) {
        const int64_t stride = view_.stride(a, *vector);
        return stride != 0 && stride != 1 && stride != View::kScattered && view_.stride(a, r) == 1;
      });
      const bool repeated = std::any_of(view_.works().begin(), view_.works().end(), [&](const Work& other) { return in(other.outs, r); });
      if (!across || repeated || tiled(r) || is_product(w) || in(fixed_, r) || width_of(r) > 1 || view_.size(r) % kTurnedSum) continue;
      opts.push_back(Unroll{range_id(r), kTurnedSum});
      if (!is_legal(kernel_, opts)) opts.pop_back();
    }
    return opts;
  }
  bool is_product(const Work& w) const {
    return std::any_of(products_.begin(), products_.end(), [&](const Product& p) { return p.work == &w; });
  }

  // ---- copies
  /// A sum that goes one by one waits for each of its additions: where a loop around it makes several of them, and nothing else,
  /// that one gets copies.
  void choose_chains() {
    for (const Work& w : view_.works()) {
      if (!one_by_one(w) || !w.sums.empty() || w.own.empty() || cycles(w) < kShortProduct) continue;
      for (size_t i = w.outs.size(); i-- > 0;) {
        UOp r = w.outs[i];
        if (is_outer(r) || in(fixed_, r) || width_of(r) > 1 || view_.size(r) % kChains) continue;
        if (!std::all_of(view_.works().begin(), view_.works().end(), [&](const Work& other) { return !other.runs_over(r) || one_by_one(other); })) continue;
        width(r).copies = kChains;
        break;
      }
    }
  }
  bool one_by_one(const Work& w) const {
    return w.is_reduce() && w.chains() == 1 && kChains * w.operations <= kLongCode &&
           std::none_of(vectors_.begin(), vectors_.end(), [&](UOp v) { return in(w.outs, v); });
  }
  /// A short loop outside that of the lanes repeats the sums inside that do not change with it: all of its values become copies, which
  /// share them.
  void choose_shared() {
    for (const Work& w : view_.works())
      for (UOp r : w.outs) {
        if (is_outer(r) || in(fixed_, r) || width_of(r) > 1 || view_.size(r) > kShortLoop) continue;
        const bool repeated = std::any_of(w.sums.begin(), w.sums.end(), [&](UOp sum) {
          return !view_.depends(sum, r) && !view_.of(sum).own.empty() &&
                 std::any_of(vectors_.begin(), vectors_.end(), [&](UOp v) { return !is_outer(v) && range_id(v) > range_id(r) && view_.depends(sum, v); });
        });
        if (repeated) width(r).copies = static_cast<int>(view_.size(r));
      }
  }
  /// A short loop of a sum along which memory is read at no fixed distance, such as a window whose rows and columns are one range, or under
  /// masks that change with it, as at the edge of an image, is written out: there each place and each mask is a known one.
  void choose_short() {
    for (const Work& w : view_.works()) {
      if (!w.is_reduce() || w.chains() > 1 || w.own.empty()) continue;
      UOp r = w.own.back();
      const int64_t size = view_.size(r);
      if (size > (is_product(w) ? kShortLoop : kShortWindow) || static_cast<double>(std::max(size, kShortLoop)) * w.operations > kLongCode) continue;
      if (in(fixed_, r) || width_of(r) > 1) continue;
      if (std::any_of(w.accesses.begin(), w.accesses.end(), [&](UOp a) { return view_.stride(a, r) == View::kScattered || masks_change(w, a, r); }))
        width(r).copies = static_cast<int>(size);
    }
  }
  /// Whether the lanes of a load are masked by a gate that differs from value to value of a range.
  bool masks_change(const Work& w, UOp load, UOp range) {
    const UOp gate = load->op == Op::Load ? gate_of(load) : UOp();
    return gate && view_.depends(gate, range) &&
           std::any_of(vectors_.begin(), vectors_.end(), [&](UOp v) { return in(w.outs, v) && view_.depends(gate, v); });
  }
  void choose_copies() {
    for (UOp r : vectors_) {
      if (tiled(r) || in(transposed_, r)) continue;
      Width& w = width(r);
      double operations = 0;
      int chains = 1, independent = 1;  // sums that a step goes on with: as many hide each other's latency
      for (const Work& work : view_.works()) {
        if (!work.runs_over(r)) continue;
        for (const Product& p : products_)
          if (p.work == &work) independent = std::max(independent, p.tile.rows * p.tile.columns);
        double length = work.operations;  // of its text
        for (UOp a : work.accesses)
          if (const int64_t stride = view_.stride(a, r); stride < 0 || stride > kWidestStride) length += w.lanes;
        operations = std::max(operations, length * (work.own.empty() || work.chains() > 1 ? 1 : static_cast<double>(width_of(work.own.back()))));
        if (!work.own.empty() && work.own.back() == r) chains = std::max(chains, work.chains());
      }
      w.copies = chains > w.lanes ? chains / w.lanes : independent > kSomeChains ? 2 : 4;
      if (chains <= w.lanes && independent > kManyChains) w.copies = 1;
      if (chains <= w.lanes) {
        while (w.copies > 1 && (w.copies * operations > kLongCode || w.all() > view_.size(r))) w.copies /= 2;
      }
    }
    for (const Width& w : widths_) {
      if (w.lanes > 1) opts_.push_back(Lanes{range_id(w.range), w.lanes});
      if (w.copies > 1) opts_.push_back(Unroll{range_id(w.range), w.copies});
    }
  }

  // ---- streamed operands
  /// All Opts where the only product, or else the busiest sum, goes through memory; none where it does not, or they are not legal.
  std::vector<Opt> stream() {
    const std::optional<Product> busiest = products_.empty() ? busiest_sum() : products_.size() == 1 ? std::optional(products_[0]) : std::nullopt;
    if (!busiest) return {};
    std::vector<Opt> opts = stream_product(view_, *busiest->work, busiest->tile, busiest->tile.lanes ? width(busiest->tile.lanes).lanes : 1, target_);
    if (opts.empty()) return {};
    for (const Width& w : widths_)
      if (w.lanes > 1) opts.push_back(Lanes{range_id(w.range), w.lanes});
    opts = add_rows(kernel_, std::move(opts), rows_);
    return is_legal(kernel_, opts) ? opts : std::vector<Opt>{};
  }
  /// If no other kind of work is busier.
  std::optional<Product> busiest_sum() const {
    const auto& works = view_.works();
    const auto busiest = std::max_element(works.begin(), works.end(), [&](const Work& a, const Work& b) { return cycles(a) < cycles(b); });
    if (busiest == works.end() || !busiest->is_reduce() || busiest->own.empty() || !busiest->sums.empty()) return {};
    Product sum{&*busiest, {}};
    for (UOp v : vectors_)
      if (in(busiest->outs, v)) sum.tile.lanes = v;
    return sum;
  }

  // ---- packed operands
  /// All Opts with the busiest product's operand in a tile; none where that is not worth it, or not legal.
  std::vector<Opt> pack() {
    if (products_.empty()) return {};
    std::vector<Opt> opts = opts_;
    const std::vector<Opt> blocks = block_product(kernel_, view_, *products_[0].work, products_[0].tile, lanes_, target_);
    if (blocks.empty()) return {};
    opts.insert(opts.end(), blocks.begin(), blocks.end());
    for (std::vector<Opt> choice : {rest_results(view_, *products_[0].work, products_[0].tile, opts), opts}) {
      if (choice.empty()) continue;
      choice = add_rows(kernel_, std::move(choice), rows_);
      if (is_legal(kernel_, choice)) return choice;
    }
    return {};
  }

  /// With Prefetches of what the next tiles of products read, where nothing is staged: a panel passes under many rows, and of
  /// what sums read next.
  std::vector<Opt> ask_ahead(std::vector<Opt> opts) {
    if (!staged_.empty()) return opts;
    std::vector<Opt> ahead;
    if (transposed_.empty()) ahead = streams_ahead(kernel_, view_, widths_, target_);
    for (const Product& p : products_) {
      const std::vector<Opt> rows = rows_ahead(kernel_, view_, *p.work, p.tile, target_);
      ahead.insert(ahead.end(), rows.begin(), rows.end());
    }
    for (const Opt& o : ahead) {
      opts.push_back(o);
      if (!is_legal(kernel_, opts)) opts.pop_back();
    }
    return opts;
  }

  /// Operands of products whose columns are a row's: each point copies all it needs of them.
  void stage_operands() {
    for (const Product& p : products_) {
      UOp operand;
      const auto stage = stage_operand(kernel_, view_, *p.work, p.tile, lanes_, target_, operand);
      if (!stage) continue;
      std::vector<Opt> all = opts_;
      all.emplace_back(*stage);
      all.insert(all.end(), rows_.begin(), rows_.end());
      if (!is_legal(kernel_, all)) continue;
      opts_.emplace_back(*stage);
      staged_.push_back(operand);
    }
  }

  // ---- points
  double cycles_of_all() const {
    double all = 0;
    for (const Work& w : view_.works()) all += cycles(w) / (vectors_.empty() && w.chains() == 1 ? 1 : lanes_ / 2.0);
    return all;
  }
  /// Whether a store lies nearer in memory along one range than along another.
  bool stored_nearer(UOp range, UOp other) {
    return std::any_of(view_.works().begin(), view_.works().end(), [&](const Work& w) {
      if (w.is_reduce()) return false;
      const int64_t near = view_.stride(w.node, range), far = view_.stride(w.node, other);
      return near > 0 && near < far;
    });
  }
  /// Whether points that follow one another read other columns of a product's operand, of which half of the second cache does not hold what
  /// the next row reads again: its panels lie apart, as heads do.
  bool many_panels(const Product& p) {
    const auto again = [&](UOp r) { return !is_outer(r) || range_id(r) > range_id(p.tile.first); };
    return std::any_of(p.work->accesses.begin(), p.work->accesses.end(), [&](UOp a) {
      if (a->op != Op::Load || !p.tile.lanes || !view_.depends(a, p.tile.lanes) || view_.depends(a, p.tile.first) || overlaps(view_, a)) return false;
      auto bytes = static_cast<int64_t>(size_of(a->dtype));
      bool apart = false;
      for (UOp r : view_.ranges()) {
        if (!view_.depends(a, r) || !again(r)) continue;
        bytes *= view_.size(r);
        apart |= is_outer(r) && !(r == p.tile.lanes);
      }
      return apart && bytes > target_.l2 / 2;
    });
  }
  void choose_blocks() {
    std::vector<UOp> outer(kernel_.outer.size());
    for (UOp r : view_.ranges())
      if (is_outer(r)) outer[static_cast<size_t>(range_id(r))] = r;
    std::erase(outer, UOp());
    if (outer.empty()) return;
    std::vector<int64_t> block, count;
    double points = 1;
    for (UOp r : outer) {
      block.push_back(width_of(r));
      count.push_back((view_.size(r) + block.back() - 1) / block.back());
      points *= static_cast<double>(count.back());
    }
    // A point covers so many times as many values of a range, or as many as there are.
    auto enlarge = [&](size_t i, double by) {
      by = std::floor(std::min(by, static_cast<double>(count[i])));
      if (by <= 1) return;
      const auto times = static_cast<int64_t>(by), left = (count[i] + times - 1) / times;
      points = points / static_cast<double>(count[i]) * static_cast<double>(left);
      block[i] *= (count[i] + left - 1) / left;
      count[i] = left;
    };
    const double all = std::max(cycles_of_all(), 1.0);
    const double wanted = std::max(kTurns * target_.parallel_units, all / kLongestPoint);
    auto room = [&] { return std::min(points / wanted, points * kPoint / all); };
    for (size_t i = 0; i < outer.size(); ++i)  // what is computed for a point, for as many others as there are
      if (repeats(outer[i])) enlarge(i, points / target_.parallel_units);
    if (!products_.empty())
      if (const RegisterTile& t = products_[0].tile; t.first && is_outer(t.first)) {
        const auto rows = static_cast<size_t>(std::find(outer.begin(), outer.end(), t.first) - outer.begin());
        if (many_panels(products_[0])) enlarge(rows, std::min(points / (kTurns * target_.parallel_units), kPanelRows / t.rows));
        for (size_t i = outer.size(); i-- > 0;)  // lines that a tile's far rows begin are written to their end
          if (!tiled(outer[i]) && stored_nearer(outer[i], t.first)) enlarge(i, points / wanted);
        enlarge(rows, std::min(room(), kProductRows / t.rows));
      }
    for (size_t i = 0; i < outer.size(); ++i)  // rows are read and written from their beginning to their end
      if (in(transposed_, outer[i])) enlarge(i, room());
    for (size_t i = outer.size(); i-- > 0;) enlarge(i, room());
    for (size_t i = 0; i < outer.size(); ++i)
      if (block[i] > width_of(outer[i])) opts_.push_back(Block{range_id(outer[i]), block[i]});
  }
  // ---- memory
  /// What is larger than the caches is not in them when somebody reads it.
  void choose_nontemporal() {
    const std::vector<UOp>& stores = kernel_.sink->src;
    for (size_t i = 0; i < stores.size(); ++i) {
      auto bytes = static_cast<double>(size_of(stores[i]->src[0]->dtype));
      for (UOp r : view_.ranges())
        if (view_.depends(stores[i], r)) bytes *= static_cast<double>(view_.size(r));
      if (bytes < (scattered_ ? kScatteredRows : 1) * static_cast<double>(target_.l3)) continue;
      opts_.push_back(Nt{static_cast<int>(i)});
      if (!is_legal(kernel_, opts_)) opts_.pop_back();
    }
  }

  /// Whether a sum or a tile that does not change along an outer range is needed at each of its values.
  bool repeats(UOp range) {
    if (std::any_of(staged_.begin(), staged_.end(), [&](UOp v) { return !view_.depends(v, range); })) return true;
    for (const Work& w : view_.works())
      if (view_.depends(w.node, range))
        for (UOp r : w.sums)
          if (!view_.depends(r, range) && !view_.of(r).own.empty()) return true;
    return false;
  }

  const Kernel& kernel_;
  const runtime::Target& target_;
  const std::vector<Row> rows_;
  View view_;  ///< with these rows
  int lanes_ = 1;
  std::vector<UOp> fixed_, vectors_;
  std::vector<UOp> transposed_;  ///< ranges with lanes along which memory is strided
  bool scattered_ = false;       ///< whole lines of many rows are stored at a time, and no cache holds them
  std::vector<Width> widths_;
  std::vector<Product> products_;  ///< the busiest first
  std::vector<UOp> staged_;        ///< operands that each point copies
  std::vector<Opt> opts_;
};

}  // namespace

std::vector<Opt> heuristic(const Kernel& kernel, const runtime::Target& target) {
  if (target.cuda()) return cuda_heuristic(kernel, target);
  return Chooser(kernel, target).run();
}

}  // namespace sinter::codegen
