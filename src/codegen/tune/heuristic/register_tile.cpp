// The model: what limits a step of the innermost loop is multiplications, loads, or the latency of a chain; a tile
// costs some cycles to begin and end; what no whole tile covers is a tile of its own.
#include "codegen/tune/heuristic/register_tile.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "codegen/kernel/access.h"
#include "codegen/kernel/ceil_div.h"
#include "codegen/normalize/predicates.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "codegen/tune/heuristic/peel.h"
#include "codegen/tune/heuristic/register_pressure.h"
#include "codegen/tune/heuristic/vector_lanes.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;
using runtime::kLine;

// Of a current x86 core, which loads as many vectors in a cycle as it multiplies: cycles.
constexpr double kInRows =
    .3;  ///< cycles of an element that goes across the lanes, rows becoming columns in registers,
constexpr double kOneByOne = 2.5;  ///< or one by one
/// Cycles of a turn of a short loop, and of what stands around the loop. From 3 x 3 and 5 x 5 windows on Granite
/// Rapids: 10 to 12 for a loop whose steps follow one another, 5 to 7 for each step of others, whatever the tile;
constexpr double kTurn = 4, kAround = 8;
constexpr double kOwnLine = 2.5;     ///< and so many for each line that its copies read
constexpr double kTurnedVector = 1;  ///< cycles of a vector that is transposed in registers
constexpr double kGated = 3;         ///< how much longer a step takes whose gate differs inside a tile
constexpr double kFar =
    .02;  ///< cycles of a load more, if the next row lies so many bytes away that a page holds two at most
constexpr double kFarStep = .5;    ///< and of a step, if what no lane moves goes so far in each
constexpr double kLineStep = .25;  ///< or, if only to another line: lanes across a product of panels, 64 columns wide,
                                   ///< take 1.4 of the time on Zen 1
constexpr int64_t kFarBytes = 2048;
/// Vectors of a panel that the first cache does not hold come from the second one, one a cycle. More of a step's time
/// than such a part shows, and that half: on Zen 3 tiles of 4 rows by 3 vectors take 1.03 to 1.1 of the time of 6 by 2,
/// and 1.1 to 1.2 where somebody else uses the caches too.
constexpr double kUnseen = .4, kSeen = .5;
constexpr int64_t kTileRows = 8;  ///< of a tile,
constexpr int64_t kTallest =
    12;  ///< or of one whose two vectors are all columns, where it does not store so many rows far from each other
constexpr double kAcross = 1.3;   ///< of an element of what follows that is loaded or stored across the lanes,
constexpr double kWritten = 300;  ///< and of each such access in the text, which is compiled,
constexpr double kDearest =
    .05;  ///< but no more for all of them than such a part: short text is no reason for slow loops
constexpr double kAgain = 1.2;  ///< how much longer a product takes of whose windows each thread reads nearly all
constexpr int kMasks =
    8;  ///< registers of the bools that masks of a tile's loads are made of, where masks have registers of their own
constexpr int kFewest = 4;  ///< copies of what is summed last that are transposed in registers
constexpr int kMostTurned =
    15;  ///< results of one element that is transposed in registers, above which copying it first pays

class Model {
 public:
  /// `unrolls`: whether the innermost loop may have copies.
  Model(View& view, const Work& w, int lanes, const runtime::Target& target, bool unrolls)
      : view_(view),
        w_(w),
        target_(target),
        lanes_(lanes),
        registers_(target.vector_registers),
        multiplications_(target.multiplications),
        threads_(target.threads),
        masks_(target.masks),
        unrolls_(unrolls) {
    for (UOp a : w.accesses)
      if (a->op == Op::Load) loads_.push_back(a);
    steps_ = w.chains() > 1 ? 1.0 / lanes : 1;
    for (UOp r : w.own) steps_ *= static_cast<double>(view.size(r));
    vectors_ = std::max(1, w.chains() / lanes);
    if (!w.own.empty()) last_ = view.size(w.own.back());
    gate_ = common_gate(w.node);
    for (UOp r : w.outs) inside_.emplace_back(r, inside_of(view, w, r, target));
  }

  bool fits(const RegisterTile& t) const {
    int held = 0;  // the vectors of one operand, while the other one's pass
    for (UOp q : loads_)
      if (varies(q, t) && !(t.first && view_.depends(q, t.first)))
        held += !t.second || view_.depends(q, t.second) ? t.columns : 1;
    if (masks_ && std::any_of(loads_.begin(), loads_.end(),
                              [&](UOp q) { return t.lanes && gate_of(q) && view_.depends(gate_of(q), t.lanes); }))
      held += kMasks;
    // The columns of this turn are there while the rows of one vector become columns of the next one
    // (codegen/cpu/pipeline.h).
    if (t.turned > 1) return t.rows * t.columns + (t.columns + 1) * t.turned <= registers_;
    return (t.rows * t.columns) * vectors_ + (t.rows > 1 ? held : 1) + 1 <= registers_;
  }

  /// How many copies of what is summed last make whole vectors of the operands that lie along it, when lanes take those
  /// across: half as many as lanes, 4 at least, whose transposes still fit the registers; 1 where there is no such
  /// operand, or one by one is the way to read some: their gates change from copy to copy, or along the lanes.
  int turned(UOp lanes) const {
    if (!lanes || lanes_ < kFewest || w_.chains() > 1) return 1;
    const UOp last = w_.own.back();
    const int copies = std::max(lanes_ / 2, kFewest);
    bool across = false;
    for (UOp q : loads_) {
      const UOp gate = gate_of(q);
      if (gate && view_.depends(gate, last)) return 1;
      if (!view_.depends(q, lanes) || view_.stride(q, lanes) == 1) continue;
      if (view_.stride(q, lanes) == View::kScattered || view_.stride(q, last) != 1 ||
          (gate && view_.depends(gate, lanes)))
        return 1;
      across = true;
    }
    return across && view_.size(last) >= copies ? copies : 1;
  }

  /// Whether stores that follow the product write vectors whose rows are far apart: each row is a stream of lines that
  /// memory is asked for.
  bool stores_far(UOp lanes, UOp rows) const {
    return lanes && std::any_of(view_.works().begin(), view_.works().end(), [&](const Work& w) {
             return follows(w) && view_.stride(w.node, lanes) == 1 && far(w.node, rows);
           });
  }

  double cycles(const RegisterTile& t) const {
    double calls = 1, all = 0;
    for (UOp r : w_.outs)
      if (!(r == t.first) && !(r == t.second) && !(r == t.lanes)) calls *= static_cast<double>(view_.size(r));
    if (t.lanes && !(t.second == t.lanes)) calls *= std::ceil(static_cast<double>(view_.size(t.lanes)) / lanes_);
    const bool whole = follows_whole(t);
    const double around = turning(t, whole) + fetching(t);
    for (auto [many, rows] : parts(t.first, t.rows))
      for (auto [often, span] : parts(t.second, t.second == t.lanes && t.lanes ? t.columns * lanes_ : t.columns)) {
        const double columns = t.second == t.lanes && t.lanes ? std::ceil(span / lanes_) : span;
        all += many * often * calls *
               (steps_ * (step(t, rows, columns, whole) + around) + 10 + rows * columns * (w_.chains() > 1 ? 8 : 1));
      }
    if (t.lanes && t.turned == 1)
      for (UOp q : loads_)
        if (packed(q, t)) all += packing(q);
    all = (all + across(t)) * waiting(t);
    return all + std::min(kWritten * written(t), kDearest * all);
  }

 private:
  /// Calls `body` with the stores that follow the product along its lanes, and with what else is summed for them
  /// element by element, for each of their accesses that do not lie so.
  template <class Body>
  void for_each_across(UOp lanes, Body body) const {
    for (const Work& w : view_.works())
      if (lanes && in(w.outs, lanes) && (follows(w) || beside(w)))
        for (UOp a : w.accesses)
          if (const int64_t stride = view_.stride(a, lanes); stride != 0 && stride != 1) body(w, a);
  }
  bool follows(const Work& w) const { return !w.is_reduce() && in(w.sums, w_.node); }
  bool beside(const Work& w) const {
    if (!w.is_reduce() || w.node == w_.node || !reuse_ranges(view_, w).empty()) return false;
    return std::any_of(view_.works().begin(), view_.works().end(),
                       [&](const Work& store) { return follows(store) && in(store.sums, w.node); });
  }
  /// Those side by side along copies are transposed in registers; stores of a sum that goes on from block to block have
  /// no copies.
  bool in_rows(const RegisterTile& t, UOp access) const {
    return steps_ <= kDeepest && t.first && view_.stride(access, t.first) == 1;
  }
  double across(const RegisterTile& t) const {
    double cycles = 0;
    for_each_across(t.lanes,
                    [&](const Work& w, UOp a) { cycles += w.iterations * (in_rows(t, a) ? kInRows : kAcross); });
    return cycles;
  }
  /// How often they stand in the text: rows of 7 copies as 4, 2 and 1; for the vectors of a whole tile, and once more
  /// if there is a rest.
  double written(const RegisterTile& t) const {
    double accesses = 0;
    if (steps_ <= kDeepest)
      for_each_across(t.lanes, [&](const Work&, UOp a) {
        accesses += t.columns * lanes_ * (in_rows(t, a) ? std::popcount(static_cast<unsigned>(t.rows)) : t.rows);
      });
    return accesses * static_cast<double>(parts(t.first, t.rows).size());
  }
  /// How much longer it takes where threads get not as many tiles each. Along ranges that move a window less far than
  /// the sum does, each would read nearly all of what the others read.
  double waiting(const RegisterTile& t) const {
    double apart = 1, all = 1;  // tiles along ranges without those, and with them
    for (UOp r : w_.outs) {
      if (!is_outer(r)) continue;
      const int width = (r == t.lanes ? lanes_ : 1) * (r == t.first ? t.rows : r == t.second ? t.columns : 1);
      const double tiles = std::ceil(static_cast<double>(view_.size(r)) / width);
      all *= tiles;
      if (!slides(r)) apart *= tiles;
    }
    const auto uneven = [this](double tiles) { return std::ceil(tiles / threads_) * threads_ / tiles; };
    return std::min(uneven(apart), kAgain * uneven(all));
  }
  bool slides(UOp range) const {
    return std::any_of(loads_.begin(), loads_.end(), [&](UOp q) {
      const int64_t stride = view_.stride(q, range);
      return stride != 0 && stride != View::kScattered && std::any_of(w_.own.begin(), w_.own.end(), [&](UOp own) {
               return view_.stride(q, own) == stride && view_.size(own) > view_.size(range);
             });
    });
  }
  /// Whether the innermost loop is a short one, and all of its steps follow one another. What lies across the lanes
  /// will be staged, or the loop is slow for other reasons.
  bool follows_whole(const RegisterTile& t) const {
    return is_short() && unrolls_ && t.turned == 1 &&
           may_follow(view_, w_, t, w_.own.back(), static_cast<int>(last_), true, is_peeled(t), target_);
  }
  /// peel_of(), with what inside_of() said once.
  bool is_peeled(const RegisterTile& t) const {
    return t.rows > 1 && std::any_of(inside_.begin(), inside_.end(), [&](const auto& i) {
             return i.first == t.first && i.second && peel(*i.second, view_, t.first, t.rows);
           });
  }
  bool is_short() const { return w_.chains() == 1 && last_ > 1 && last_ <= kWholeLoop; }
  /// What a short innermost loop adds to each of its steps: its turns, and the lines on which the copies lie.
  double turning(const RegisterTile& t, bool whole) const {
    if (!is_short()) return 0;
    const int64_t turns = whole ? 1 : ceil_div(last_, t.turned);
    return (kTurn * static_cast<double>(turns) + kAround + kOwnLine * lines(t)) / static_cast<double>(last_);
  }
  double lines(const RegisterTile& t) const {
    int64_t lines = 0;
    for (UOp q : loads_)
      for (const auto& [copies, count] : {std::pair(t.first, t.rows), std::pair(t.second, t.columns)}) {
        if (!copies || copies == t.lanes || !view_.depends(q, copies)) continue;
        const int64_t apart = view_.byte_stride(q, copies);
        lines += 1 + (count - 1) * (apart == View::kScattered ? kLine : std::min(kLine, apart)) / kLine;
      }
    return static_cast<double>(lines);
  }
  /// Whether all rows of a tile with lanes use the same vectors of a load.
  bool passes(UOp load, const RegisterTile& t) const {
    return t.first && view_.depends(load, t.lanes) && !view_.depends(load, t.first);
  }
  /// Cycles of each step for which vectors along the lanes are waited for, which several tiles read, one below the
  /// other: of panels of which the first cache does not hold one beside what passes.
  double fetching(const RegisterTile& t) const {
    if (!t.lanes || !t.first || view_.size(t.first) <= t.rows) return 0;
    const double deep = std::min(steps_, static_cast<double>(kDeepest));
    double vectors = 0;
    for (UOp q : loads_)
      if (passes(q, t) && deep * static_cast<double>(t.width(lanes_)) * static_cast<double>(size_of(q->dtype)) >
                              static_cast<double>(target_.l1) / 2)
        vectors += t.second == t.lanes ? t.columns : 1;
    return kSeen * std::max(0.0, vectors - kUnseen * t.rows * t.columns * w_.operations / multiplications_);
  }
  bool far(UOp access, UOp range) const { return view_.byte_stride(access, range) >= kFarBytes; }
  /// Whether an operand will be read from a panel that passes under the rows (codegen/tune/heuristic/blocking.h).
  bool packed(UOp load, const RegisterTile& t) const {
    return passes(load, t) && worth_packing(view_, w_, load, t.lanes);
  }
  double packing(UOp load) const {
    double elements = 1;
    bool rows = false;
    for (UOp r : view_.ranges()) {
      if (!view_.depends(load, r)) continue;
      elements *= static_cast<double>(view_.size(r));
      rows |= view_.stride(load, r) == 1;
    }
    return elements * (rows ? kInRows : kOneByOne);
  }
  /// How often a copy count occurs: whole tiles, then the rest.
  std::vector<std::pair<double, double>> parts(UOp range, int count) const {
    if (!range) return {{1, 1}};
    const int64_t size = view_.size(range);
    std::vector<std::pair<double, double>> out;
    if (size / count) out.emplace_back(static_cast<double>(size / count), count);
    if (size % count) out.emplace_back(1, static_cast<double>(size % count));
    return out;
  }
  bool varies(UOp load, const RegisterTile& t) const {
    if (t.lanes) return view_.depends(load, t.lanes);
    return std::any_of(w_.own.begin(), w_.own.end(), [&](UOp r) { return view_.depends(load, r); });
  }
  /// Elements that copies of a load read in a step; where `whole` loops are unrolled, those of windows share them.
  double read(UOp load, UOp copies, double count, bool whole) const {
    if (!copies || !view_.depends(load, copies)) return 1;
    const int64_t step = whole ? view_.stride(load, w_.own.back()) : 0, copy = view_.stride(load, copies);
    if (step == 0 || step == View::kScattered || copy == View::kScattered || copy % step) return count;
    return (static_cast<double>(last_) + (count - 1) * static_cast<double>(std::min(last_, std::abs(copy / step)))) /
           static_cast<double>(last_);
  }
  double step(const RegisterTile& t, double rows, double columns, bool whole) const {
    double loads = 0, vectors = 0, slow = 0;
    for (UOp q : loads_) {
      const double copies =
          (t.first && view_.depends(q, t.first) ? rows : 1) * (t.second && view_.depends(q, t.second) ? columns : 1);
      loads += read(q, t.first, rows, whole) * (t.has_other() ? read(q, t.second, columns, whole)
                                                : t.second && view_.depends(q, t.second) ? columns
                                                                                         : 1);
      if (t.first && view_.depends(q, t.first) && far(q, t.first)) slow += kFar * copies;
      if (const int64_t step = varies(q, t) || w_.own.empty() ? 0 : view_.byte_stride(q, w_.own.back()); step >= kLine)
        slow += step >= kFarBytes ? kFarStep : kLineStep;
      if (varies(q, t)) vectors += copies;
      if (t.lanes && view_.depends(q, t.lanes) && view_.stride(q, t.lanes) != 1)
        slow += copies * (t.turned > 1   ? kTurnedVector
                          : packed(q, t) ? 0
                                         : cycles_apart(view_.stride(q, t.lanes), lanes_));
    }
    const double busy =
        std::max({rows * columns * w_.operations / multiplications_, loads / multiplications_, kLatency / vectors_});
    const double all = busy + .06 * loads + .05 * vectors + slow;
    const bool differs = gate_ && ((t.first && view_.depends(gate_, t.first) && !(whole && is_peeled(t))) ||
                                   (t.lanes && view_.depends(gate_, t.lanes)));
    return differs ? kGated * all : all;
  }

  View& view_;
  const Work& w_;
  const runtime::Target& target_;
  const int lanes_, registers_, multiplications_, threads_;
  const bool masks_, unrolls_;
  int vectors_ = 1;   ///< accumulators of one element
  int64_t last_ = 1;  ///< steps of the innermost loop
  double steps_ = 1;
  std::vector<UOp> loads_;
  std::vector<std::pair<UOp, std::optional<Inside>>> inside_;  ///< of each range of results
  UOp gate_;  ///< elements of the sum that change nothing are skipped, if all of a tile agree on it
};

/// Whether a STORE runs over both ranges: they cannot both have lanes.
bool stored_together(const View& view, UOp a, UOp b) {
  return std::any_of(view.works().begin(), view.works().end(),
                     [&](const Work& w) { return !w.is_reduce() && w.runs_over(a) && w.runs_over(b); });
}

/// Whether a product with this tile leaves each range what it has, and lanes to those that have some.
bool agrees(const View& view, const RegisterTile& t, const Work& product, const std::vector<Width>& given) {
  return std::all_of(given.begin(), given.end(), [&](const Width& w) {
    if (t.lanes && w.lanes > 1 && !(t.lanes == w.range) && stored_together(view, t.lanes, w.range)) return false;
    if (!in(product.outs, w.range)) return true;
    if (w.lanes > 1 && !(t.lanes == w.range)) return false;
    const int copies = t.first == w.range ? t.rows : t.second == w.range ? t.columns : 1;
    return copies == w.copies;
  });
}

}  // namespace

std::vector<UOp> reuse_ranges(View& view, const Work& product) {
  std::vector<UOp> out;
  for (UOp r : product.outs)
    if (std::any_of(product.accesses.begin(), product.accesses.end(),
                    [&](UOp a) { return a->op == Op::Load && !view.depends(a, r); }))
      out.push_back(r);
  return out;
}

RegisterTile pick_tile(View& view, const Work& product, int lanes, const runtime::Target& target,
                       const std::vector<UOp>& fixed, const std::vector<Width>& given) {
  auto free = [&](UOp r) { return !in(fixed, r); };
  auto has_width = [&](UOp r) {
    return std::any_of(given.begin(), given.end(), [r](const Width& w) { return w.range == r; });
  };
  const bool unrolls = !product.own.empty() && free(product.own.back()) && !has_width(product.own.back());
  const Model model(view, product, lanes, target, unrolls);
  // Not of windows: which rows these should have the model does not tell; with wrong ones, 512 x 7 x 7 takes 1.28 of
  // the time.
  const bool may_have_three = std::none_of(product.accesses.begin(), product.accesses.end(),
                                           [&](UOp a) { return a->op == Op::Load && overlaps(view, a); });
  std::vector<UOp> reuse = reuse_ranges(view, product), along;
  std::erase_if(reuse, [&](UOp r) { return !free(r); });
  if (product.chains() > 1)
    along.push_back({});
  else
    for (UOp r : product.outs)
      if (free(r) && view.size(r) >= 4) along.push_back(r);
  auto apart = [&](UOp a, UOp b) {
    return std::none_of(product.accesses.begin(), product.accesses.end(),
                        [&](UOp q) { return view.depends(q, a) && view.depends(q, b); });
  };
  RegisterTile best;
  auto consider = [&](RegisterTile t) {
    if (!model.fits(t) || !agrees(view, t, product, given)) return;
    t.cycles = model.cycles(t);
    if (best.cycles == 0 || t.cycles < best.cycles * .999) best = t;
  };
  for (UOp l : along) {
    std::vector<UOp> rows{{}};
    for (UOp r : reuse)
      if (!(r == l)) rows.push_back(r);
    const int64_t tallest = l && view.size(l) > lanes && view.size(l) <= 2 * lanes ? kTallest : kTileRows;
    const int turned = unrolls ? model.turned(l) : 1;
    for (UOp t : rows) {
      const int64_t allowed = t && model.stores_far(l, t) ? kTileRows : tallest;
      const int most = t ? static_cast<int>(std::min(allowed, view.size(t))) : 1;
      for (int m = t ? 2 : 1; turned > 1 && m <= std::min<int64_t>(kMostTurned, t ? view.size(t) : 1); ++m) {
        consider({l, t, {}, m, 1, turned});
        // What no lane moves is loaded once for two vectors; each row is turned once.
        if (t && m == view.size(t) && lanes > kFewest && view.size(l) > lanes) consider({l, t, l, m, 2, kFewest});
      }
      for (int m = t ? 2 : 1; m <= most; ++m) {
        if (l) {
          for (int n : {1, 2, 3, 4})
            if (n == 3 ? may_have_three && n * lanes <= view.size(l) : n == 1 || (n - 1) * lanes < view.size(l))
              consider({l, t, l, m, n});
          for (UOp u :
               reuse)  // all of two short ranges, such as those of a window, so that threads may share the lanes
            if (t && m == view.size(t) && !(u == t) && !(u == l) && view.size(u) <= allowed && apart(l, u) &&
                !model.stores_far(l, u))
              consider({l, t, u, m, static_cast<int>(view.size(u))});
          continue;
        }
        consider({l, t, {}, m, 1});
        for (UOp u : reuse)
          if (t && !(u == t))
            for (int n = 2; n <= std::min<int64_t>(6, view.size(u)); ++n) consider({l, t, u, m, n});
      }
    }
  }
  return best;
}

}  // namespace sinter::codegen
