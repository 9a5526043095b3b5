// The cost model. A step of the innermost loop is bound by multiplications, loads, or the latency of a chain. A tile
// costs some cycles to begin and end. The remainder that no whole tile covers is a tile of its own.
#include "codegen/tune/heuristic/register_tile.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "codegen/kernel/access.h"
#include "codegen/kernel/common_predicate.h"
#include "codegen/tune/heuristic/cache_sets.h"
#include "codegen/tune/heuristic/factor_operations.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "codegen/tune/heuristic/peel.h"
#include "codegen/tune/heuristic/product_epilogue.h"
#include "codegen/tune/heuristic/register_pressure.h"
#include "codegen/tune/heuristic/vector_lanes.h"
#include "ir/ceil_div.h"

namespace sinter::codegen {
namespace {

using runtime::kCacheLine;

// Cycles on a current x86 core, which loads as many vectors per cycle as it multiplies.
/// Per element that crosses the lanes in a register transpose.
constexpr double kTransposedElement = .3;
constexpr double kScalarElement = 2.5;  ///< per element that crosses the lanes by itself
/// Per iteration of a short loop, and per execution of the loop. On Granite Rapids, with 3 x 3 and 5 x 5 windows, a
/// loop that is unrolled completely costs 10 to 12 cycles and others 5 to 7 per step, whatever the tile.
constexpr double kLoopIteration = 4, kLoopEntry = 8;
constexpr double kTouchedLine = 2.5;       ///< per line that the unrolled copies read
constexpr double kTransposedVector = 1;    ///< per vector that is transposed in registers
constexpr double kDivergentPredicate = 3;  ///< slowdown of a step if the predicate differs inside a tile
/// Per load, extra, if its next row is at least kFarBytes away, so that a page holds two rows at most.
constexpr double kFarLoad = .02;
/// Per step, extra, if an operand that does not depend on the lanes moves that far in each step.
constexpr double kFarStep = .5;
/// Per step, extra, if such an operand only moves to another line. On Zen 1, lanes across a product of panels, 64
/// columns wide, take 1.4 of the time.
constexpr double kLineStep = .25;
constexpr int64_t kFarBytes = 2048;
/// Per line that comes from the second cache in each step. On Zen 4 (November 2026), with three of them 2 x 2 vectors
/// take 3.8 times as long as their multiplications, and four are hidden behind 6 x 4.
constexpr double kMissedLine = 2;
/// Per part of a line that a register transpose stores or loads, where the second cache does not hold all of them. On
/// Zen 4 (November 2026), under 64 x 7 x 7 windows over 16 x 3 x 112 x 112, 7 x 2 and 5 x 4 vectors take 1.09 of the
/// time of 8 x 2, which stores a row as one part.
constexpr double kMemoryPart = 1;
/// Per part of a line that the first cache holds no longer, since the lines between map to the same set: for each lane
/// of a vector, since the wider it is the fewer multiplications hide the wait. On Zen 4 (November 2026), 64 x 3 x 3
/// windows over 64 x 32 x 32 with a residual added: tiles of 8 x 2 vectors take 0.75 of the time of 5 x 4.
constexpr double kEvictedPart = .7;
/// The same if the second cache does not hold it either. On Zen 3, 128 x 256 x 1024 with a matrix added takes 1.3 of
/// the time with lanes along the rows.
constexpr double kFarPart = 15;
/// A panel that exceeds the first cache is loaded from the second one, a vector per cycle. These loads are hidden up
/// to kHiddenFetchShare of a step's time. Of the rest, the share kExposedFetch is exposed. On Zen 3, tiles of 4 rows by
/// 3 vectors take 1.03 to 1.1 of the time of 6 by 2.
constexpr double kHiddenFetchShare = .4, kExposedFetch = .5;
/// Per step of a chain, beside the latency of a multiply-add, since the core does not start the oldest one first. On
/// Zen 3 (November 2026), 4 x 2 vectors take 1.06 of the time of 5 x 2 under windows of 5 x 5, and 7 x 1 take 1.09 of
/// the time of 2 x 4 under 3 x 3.
constexpr double kLateStart = 1;
constexpr int64_t kMaxRows = 8;  ///< rows of a tile, at most
/// Rows of a tile whose two vectors are all columns, at most. Not if it stores that many rows far from each other.
constexpr int64_t kMaxRowsOfTwoVectors = 12;
constexpr double kCrossLaneElement = 1.3;  ///< per element of the epilogue that is accessed across the lanes
constexpr double kCrossLaneCode = 300;     ///< per such access in the code, for its compilation
/// Share of the time to which the cost of such code is limited: short code is no reason for slow loops.
constexpr double kMaxCodeShare = .05;
/// Slowdown of a product if each thread reads nearly all of its windows.
constexpr double kWindowReread = 1.2;
/// Registers of the bools from which the masks of a tile's loads are made, where masks have registers of their own.
constexpr int kMaskRegisters = 8;
/// Registers that a masked vector takes in each step where masks have none of their own: the mask, and its copy, which
/// the load overwrites. Masks are those of a border, or of a vector beyond the end of a row. On Zen 2 (December 2026),
/// tiles whose sums are spilled for them take 1.25 to 1.95 of the time: 256 x 128 x 10, and gradients by the image of
/// 5 x 5 windows over 28 x 28 pixels of one channel.
constexpr int kMaskedVectorRegisters = 2;
constexpr int kMinTransposed = 4;  ///< unrolled copies of the last reduced range for a transpose, at least
/// Results per element of an operand that is transposed in registers, at most. With more, packing it pays.
constexpr int kMaxTransposedResults = 15;

class RegisterTileModel {
 public:
  /// `unrolls`: whether the innermost loop may be unrolled.
  RegisterTileModel(KernelAnalysis& analysis, const StatementAnalysis& w, int lanes, const runtime::Target& target,
                    bool unrolls)
      : analysis_(analysis),
        product_(w),
        target_(target),
        lanes_(lanes),
        registers_(target.vector_registers),
        multiplications_(target.multiplies_per_cycle),
        threads_(target.threads),
        chain_step_(target.multiply_latency + kLateStart),
        masks_(target.masks),
        unrolls_(unrolls),
        factors_(operations_of_factors(analysis, w)) {
    for (UOp a : w.accesses) {
      if (a->op != Op::Load) continue;
      loads_.push_back(a);
      if (target.has_masked_loads(size_of(a->dtype))) maskable_.push_back(a);
      if (evicts_own_lines(analysis, w, a, target)) evicting_.push_back(a);
    }
    steps_ = w.chains() > 1 ? 1.0 / lanes : 1;
    for (UOp r : w.reduced_ranges) steps_ *= static_cast<double>(analysis.size(r));
    accumulators_ = std::max(1, w.chains() / lanes);
    if (!w.reduced_ranges.empty()) innermost_steps_ = analysis.size(w.reduced_ranges.back());
    gate_ = common_predicate(w.node);
    for (UOp r : w.result_ranges) interiors_.emplace_back(r, interior_of(analysis, w, r, target));
    borders_ = borders_of(analysis, w);
  }

  bool fits(const RegisterTile& t) const {
    int held = 0;  // vectors of one operand, held while those of the other pass
    for (UOp q : loads_)
      if (is_vector_load(q, t) && !(t.row_range && analysis_.depends(q, t.row_range)))
        held += !t.column_range || analysis_.depends(q, t.column_range) ? t.columns : 1;
    const auto masked = [&](UOp q) { return analysis_.is_masked_along(q, t.lane_range); };
    if (t.lane_range && std::ranges::any_of(maskable_, masked))
      held += masks_ ? kMaskRegisters : kMaskedVectorRegisters;
    else if (!masks_ && loads_partial_vector(t))
      held += kMaskedVectorRegisters;
    // The columns of this iteration are live while the rows of one vector become columns of the next iteration
    // (codegen/cpu/pipeline.cpp).
    if (t.transpose_unroll > 1) return t.rows * t.columns + (t.columns + 1) * t.transpose_unroll <= registers_;
    return (t.rows * t.columns) * accumulators_ + (t.rows > 1 ? held : 1) + 1 <= registers_;
  }

  /// Unrolled copies of the last reduced range that make whole vectors of the operands which are contiguous along it
  /// and strided along the lanes. Half as many as lanes, but at least 4: their transposes still fit the registers. 1
  /// if there is no such operand, or if some operand must be read one by one: it has no such strides, or its predicate
  /// changes from copy to copy or along the lanes.
  int transpose_unroll(UOp lanes) const {
    if (!lanes || lanes_ < kMinTransposed || product_.chains() > 1) return 1;
    const UOp last = product_.reduced_ranges.back();
    const int copies = std::max(lanes_ / 2, kMinTransposed);
    bool across = false;
    for (UOp q : loads_) {
      const UOp predicate = predicate_of(q);
      if (predicate && analysis_.depends(predicate, last)) return 1;
      if (!analysis_.depends(q, lanes) || analysis_.stride(q, lanes) == 1) continue;
      if (analysis_.stride(q, lanes) == KernelAnalysis::kScattered || analysis_.stride(q, last) != 1 ||
          (predicate && analysis_.depends(predicate, lanes)))
        return 1;
      across = true;
    }
    return across && analysis_.size(last) >= copies ? copies : 1;
  }

  /// Whether stores after the product write vectors to rows that are far apart. Each row is then a stream of lines
  /// that memory must deliver.
  bool stores_far(UOp lanes, UOp rows) const {
    return lanes && std::ranges::any_of(analysis_.statements(), [&](const StatementAnalysis& w) {
             return is_epilogue_store(w, product_) && analysis_.stride(w.node, lanes) == 1 &&
                    is_far_apart(w.node, rows);
           });
  }

  double cycles(const RegisterTile& t) const {
    double calls = 1, all = 0;
    for (UOp r : product_.result_ranges)
      if (!(r == t.row_range) && !(r == t.column_range) && !(r == t.lane_range))
        calls *= static_cast<double>(analysis_.size(r));
    if (t.lane_range && !(t.column_range == t.lane_range))
      calls *= std::ceil(static_cast<double>(analysis_.size(t.lane_range)) / lanes_);
    const bool whole = unrolls_fully(t);
    const double steps = steps_ * (1 - skipped_share(t));
    const double around = loop_overhead(t, whole) + panel_fetch_cycles(t);
    for (auto [many, rows] : whole_and_remainder(t.row_range, t.rows))
      for (auto [often, span] : whole_and_remainder(
               t.column_range, t.column_range == t.lane_range && t.lane_range ? t.columns * lanes_ : t.columns)) {
        const double columns = t.column_range == t.lane_range && t.lane_range ? std::ceil(span / lanes_) : span;
        all += many * often * calls *
               (steps * (step_cycles(t, rows, columns, whole) + around) + 10 +
                rows * columns * (product_.chains() > 1 ? 8 : 1));
      }
    if (t.lane_range && t.transpose_unroll == 1)
      for (UOp q : loads_)
        if (will_be_packed(q, t)) all += packing_cycles(q);
    for (const ComputedFactor& f : factors_.computed) {
      if (!packs_computed(analysis_, product_, t, f.value)) continue;
      for (const FactorOperation& o : f.operations)
        all += o.cycles * values_of_ranges(o.node) / (analysis_.depends(o.node, t.lane_range) ? lanes_ : 1) /
               multiplications_;
    }
    all = (all + cross_lane_cycles(t)) * imbalance_and_rereads(t);
    return all + std::min(kCrossLaneCode * cross_lane_code(t), kMaxCodeShare * all);
  }

 private:
  /// The share of the steps that a border closes for all of a tile. They do not run if the other factor is finite,
  /// which its panel tells (codegen/emit/finite_factors.h).
  double skipped_share(const RegisterTile& t) const {
    double share = 0;
    for (const Border& b : borders_) {
      const auto differs = [&](UOp r) { return r && analysis_.depends(b.condition, r); };
      if (!differs(t.lane_range) && !differs(t.row_range) && !differs(t.column_range) &&
          !differs(product_.reduced_ranges.back()) && t.lane_range && will_be_packed(b.other, t))
        share += b.share;
    }
    return share;
  }
  /// Accesses that are contiguous along the unrolled rows are transposed in registers. Stores of a reduction that
  /// continues from block to block have no unrolled copies.
  bool is_transposed(const RegisterTile& t, UOp access) const {
    return steps_ <= kMaxBlockDepth && t.row_range && analysis_.stride(access, t.row_range) == 1;
  }
  /// Accesses of a register transpose to each of its rows: it handles 7 of them as 4, 2 and 1.
  static int transposed_parts(const RegisterTile& t) { return std::popcount(static_cast<unsigned>(t.rows)); }
  double cross_lane_cycles(const RegisterTile& t) const {
    double cycles = 0, evicted = 0;  // parts of lines that map to the same sets
    int64_t lines = 0;               // that do, and that the next tiles access again
    for (const auto& [w, a] : cross_lane_accesses(analysis_, product_, t.lane_range)) {
      const bool conflicts = is_page_stride(analysis_.byte_stride(a, t.lane_range));
      if (!is_transposed(t, a)) {
        cycles += w.iterations * (kCrossLaneElement + (conflicts ? kMissedLine : 0));
        continue;
      }
      const double parts = w.iterations / t.rows * transposed_parts(t);
      const bool in_memory =
          values_of_ranges(a) * static_cast<double>(size_of(a->src[0]->dtype)) > static_cast<double>(target_.l2);
      cycles += w.iterations * kTransposedElement + (in_memory && !conflicts ? parts * kMemoryPart : 0);
      if (!conflicts) continue;
      lines += analysis_.size(t.lane_range);
      evicted += parts;
    }
    if (lines <= l1_associativity(target_)) return cycles;
    return cycles + evicted * (lines * runtime::kPage < target_.l2 ? kEvictedPart * lanes_ : kFarPart);
  }
  /// How often these accesses occur in the code, for the vectors of a whole tile and once more for a remainder.
  double cross_lane_code(const RegisterTile& t) const {
    double accesses = 0;
    if (steps_ <= kMaxBlockDepth)
      for (const EpilogueAccess& a : cross_lane_accesses(analysis_, product_, t.lane_range))
        accesses += t.columns * lanes_ * (is_transposed(t, a.access) ? transposed_parts(t) : t.rows);
    return accesses * static_cast<double>(whole_and_remainder(t.row_range, t.rows).size());
  }
  /// The slowdown if threads get unequal numbers of tiles. Along ranges that move a window less far than the reduction
  /// does, each thread would read nearly all that the others read.
  double imbalance_and_rereads(const RegisterTile& t) const {
    double apart = 1, all = 1;  // tiles along ranges without those, and along all ranges
    for (UOp r : product_.result_ranges) {
      if (!is_outer(r)) continue;
      const int width = (r == t.lane_range ? lanes_ : 1) * (r == t.row_range      ? t.rows
                                                            : r == t.column_range ? t.columns
                                                                                  : 1);
      const double tiles = std::ceil(static_cast<double>(analysis_.size(r)) / width);
      all *= tiles;
      if (!slides(r)) apart *= tiles;
    }
    const auto uneven = [this](double tiles) { return std::ceil(tiles / threads_) * threads_ / tiles; };
    return std::min(uneven(apart), kWindowReread * uneven(all));
  }
  bool slides(UOp range) const {
    return std::ranges::any_of(loads_, [&](UOp q) {
      const int64_t stride = analysis_.stride(q, range);
      return stride != 0 && stride != KernelAnalysis::kScattered &&
             std::ranges::any_of(product_.reduced_ranges, [&](UOp own) {
               return analysis_.stride(q, own) == stride && analysis_.size(own) > analysis_.size(range);
             });
    });
  }
  /// Whether the innermost loop is short and unrolled completely. Operands that are strided along the lanes are
  /// assumed to be staged: if they are not, the loop is slow for other reasons.
  bool unrolls_fully(const RegisterTile& t) const {
    return is_short() && unrolls_ && t.transpose_unroll == 1 &&
           may_unroll(analysis_, product_, t, product_.reduced_ranges.back(), static_cast<int>(innermost_steps_), true,
                      is_peeled(t), target_);
  }
  /// peel_of(), from the results of interior_of() that the constructor stored.
  bool is_peeled(const RegisterTile& t) const {
    return t.rows > 1 && std::ranges::any_of(interiors_, [&](const auto& i) {
             return i.first == t.row_range && i.second && peel_outside(*i.second, analysis_, t.row_range, t.rows);
           });
  }
  bool is_short() const { return product_.chains() == 1 && innermost_steps_ > 1 && innermost_steps_ <= kMaxFullUnroll; }
  /// Cycles that a short innermost loop adds to each of its steps: its iterations, and the lines of the unrolled
  /// copies.
  double loop_overhead(const RegisterTile& t, bool whole) const {
    if (!is_short()) return 0;
    const int64_t iterations = whole ? 1 : ceil_div(innermost_steps_, t.transpose_unroll);
    return (kLoopIteration * static_cast<double>(iterations) + kLoopEntry + kTouchedLine * touched_lines(t)) /
           static_cast<double>(innermost_steps_);
  }
  double touched_lines(const RegisterTile& t) const {
    int64_t lines = 0;
    for (UOp q : loads_)
      for (const auto& [copies, count] : {std::pair(t.row_range, t.rows), std::pair(t.column_range, t.columns)}) {
        if (!copies || copies == t.lane_range || !analysis_.depends(q, copies)) continue;
        const int64_t apart = analysis_.byte_stride(q, copies);
        lines += 1 + (count - 1) * (apart == KernelAnalysis::kScattered ? kCacheLine : std::min(kCacheLine, apart)) /
                         kCacheLine;
      }
    return static_cast<double>(lines);
  }
  /// Whether each step of a tile loads the last vector of a row that is no multiple of the lanes.
  bool loads_partial_vector(const RegisterTile& t) const {
    if (!t.lane_range || analysis_.size(t.lane_range) % lanes_ == 0 || analysis_.size(t.lane_range) > t.width(lanes_))
      return false;
    return std::ranges::any_of(maskable_, [&](UOp q) { return analysis_.stride(q, t.lane_range) == 1; });
  }
  /// Whether all rows of a tile with lanes use the same vectors of a load.
  bool is_shared_by_rows(UOp load, const RegisterTile& t) const {
    return t.row_range && analysis_.depends(load, t.lane_range) && !analysis_.depends(load, t.row_range);
  }
  /// Cycles per step spent waiting for vectors of a panel that several tiles read one after the other. Only panels
  /// that exceed the first cache, beside what passes, cost any.
  double panel_fetch_cycles(const RegisterTile& t) const {
    if (!t.lane_range || !t.row_range || analysis_.size(t.row_range) <= t.rows) return 0;
    const double deep = std::min(steps_, static_cast<double>(kMaxBlockDepth));
    double vectors = 0;
    for (UOp q : loads_)
      if (is_shared_by_rows(q, t) &&
          deep * static_cast<double>(t.width(lanes_)) * static_cast<double>(size_of(q->dtype)) >
              static_cast<double>(target_.l1) / 2)
        vectors += t.column_range == t.lane_range ? t.columns : 1;
    return kExposedFetch *
           std::max(0.0, vectors - kHiddenFetchShare * t.rows * t.columns * product_.operations / multiplications_);
  }
  bool is_far_apart(UOp access, UOp range) const { return analysis_.byte_stride(access, range) >= kFarBytes; }
  /// Whether an operand will be packed into a panel that passes under the rows (codegen/tune/heuristic/blocking.cpp).
  bool will_be_packed(UOp load, const RegisterTile& t) const {
    return is_shared_by_rows(load, t) && worth_packing(analysis_, product_, load, t.lane_range);
  }
  double packing_cycles(UOp load) const {
    const bool rows = std::ranges::any_of(analysis_.ranges(), [&](UOp r) { return analysis_.stride(load, r) == 1; });
    return values_of_ranges(load) * (rows ? kTransposedElement : kScalarElement);
  }
  /// Values of all ranges on which a node depends.
  double values_of_ranges(UOp n) const {
    double values = 1;
    for (UOp r : analysis_.ranges())
      if (analysis_.depends(n, r)) values *= static_cast<double>(analysis_.size(r));
    return values;
  }
  /// (how often, copies) for the whole tiles, then for the remainder.
  std::vector<std::pair<double, double>> whole_and_remainder(UOp range, int count) const {
    if (!range) return {{1, 1}};
    const int64_t size = analysis_.size(range), whole = size / count;
    std::vector<std::pair<double, double>> out;
    if (whole) out.emplace_back(static_cast<double>(whole), count);
    if (size % count) out.emplace_back(1, static_cast<double>(size % count));
    return out;
  }
  bool is_vector_load(UOp load, const RegisterTile& t) const {
    if (t.lane_range) return analysis_.depends(load, t.lane_range);
    return std::ranges::any_of(product_.reduced_ranges, [&](UOp r) { return analysis_.depends(load, r); });
  }
  /// Elements that unrolled copies of a load read per step. If loops are unrolled completely (`whole`), copies of
  /// windows share them.
  double elements_read(UOp load, UOp copies, double count, bool whole) const {
    if (!copies || !analysis_.depends(load, copies)) return 1;
    const std::optional<int64_t> apart =
        whole ? analysis_.steps_apart(load, copies, product_.reduced_ranges.back()) : std::nullopt;
    if (!apart) return count;
    return (static_cast<double>(innermost_steps_) +
            (count - 1) * static_cast<double>(std::min(innermost_steps_, *apart))) /
           static_cast<double>(innermost_steps_);
  }
  /// Lines that a step reads of an operand.
  double lines_of_step(UOp load, const RegisterTile& t, double rows, double columns) const {
    const auto along = [&](UOp range, double elements) {
      if (!range || !analysis_.depends(load, range)) return 1.0;
      const int64_t apart = analysis_.byte_stride(load, range);
      const double share =
          apart == KernelAnalysis::kScattered ? 1 : static_cast<double>(std::min(kCacheLine, apart)) / kCacheLine;
      return std::max(1.0, elements * share);
    };
    const double across = along(t.lane_range, t.column_range == t.lane_range ? columns * lanes_ : lanes_);
    return across * along(t.row_range, rows) * (t.has_own_columns() ? along(t.column_range, columns) : 1);
  }
  double step_cycles(const RegisterTile& t, double rows, double columns, bool whole) const {
    double loads = 0, vectors = 0, slow = 0, missed = 0;
    for (UOp q : loads_) {
      const double copies = (t.row_range && analysis_.depends(q, t.row_range) ? rows : 1) *
                            (t.column_range && analysis_.depends(q, t.column_range) ? columns : 1);
      loads += elements_read(q, t.row_range, rows, whole) *
               (t.has_own_columns() ? elements_read(q, t.column_range, columns, whole)
                : t.column_range && analysis_.depends(q, t.column_range) ? columns
                                                                         : 1);
      if (t.row_range && analysis_.depends(q, t.row_range) && is_far_apart(q, t.row_range)) slow += kFarLoad * copies;
      if (const int64_t step = is_vector_load(q, t) || product_.reduced_ranges.empty()
                                   ? 0
                                   : analysis_.byte_stride(q, product_.reduced_ranges.back());
          step >= kCacheLine)
        slow += step >= kFarBytes ? kFarStep : kLineStep;
      if (is_vector_load(q, t)) vectors += copies;
      if (contains(evicting_, q) && !will_be_packed(q, t)) missed += lines_of_step(q, t, rows, columns);
      if (t.lane_range && analysis_.depends(q, t.lane_range) && analysis_.stride(q, t.lane_range) != 1)
        slow += copies * (t.transpose_unroll > 1 ? kTransposedVector
                          : will_be_packed(q, t) ? 0
                                                 : strided_load_cycles(analysis_.stride(q, t.lane_range), lanes_));
    }
    double operations = rows * columns * factors_.beside;
    for (const ComputedFactor& f : factors_.computed) {
      if (packs_computed(analysis_, product_, t, f.value)) continue;
      for (const FactorOperation& o : f.operations)
        operations += o.cycles * (t.row_range && analysis_.depends(o.node, t.row_range) ? rows : 1) *
                      (t.column_range && analysis_.depends(o.node, t.column_range) ? columns : 1);
    }
    const double busy = std::max(
        {operations / multiplications_, loads / multiplications_, chain_step_ / accumulators_, kMissedLine * missed});
    const double all = busy + .06 * loads + .05 * vectors + slow;
    const bool differs = gate_ && ((t.row_range && analysis_.depends(gate_, t.row_range) && !(whole && is_peeled(t))) ||
                                   (t.lane_range && analysis_.depends(gate_, t.lane_range)));
    return differs ? kDivergentPredicate * all : all;
  }

  KernelAnalysis& analysis_;
  const StatementAnalysis& product_;
  const runtime::Target& target_;
  const int lanes_, registers_, multiplications_, threads_;
  const double chain_step_;
  const bool masks_, unrolls_;
  const FactorOperations factors_;
  int accumulators_ = 1;         ///< accumulators per element
  int64_t innermost_steps_ = 1;  ///< trip count of the innermost loop
  double steps_ = 1;
  std::vector<UOp> loads_, evicting_, maskable_;  ///< all; those that evict their own lines; that a mask can be for
  std::vector<std::pair<UOp, std::optional<Interior>>> interiors_;  ///< per result range
  std::vector<Border> borders_;
  UOp gate_;  ///< elements without effect on the sum are skipped, if all of a tile agree
};

}  // namespace

RegisterTile pick_register_tile(KernelAnalysis& analysis, const StatementAnalysis& product, int lanes,
                                const runtime::Target& target, const std::vector<UOp>& fixed,
                                const std::vector<RangeWidth>& given) {
  auto free = [&](UOp r) { return !contains(fixed, r); };
  auto has_width = [&](UOp r) { return std::ranges::any_of(given, [r](const RangeWidth& w) { return w.range == r; }); };
  const bool unrolls = !product.reduced_ranges.empty() && free(product.reduced_ranges.back()) &&
                       !has_width(product.reduced_ranges.back());
  const RegisterTileModel model(analysis, product, lanes, target, unrolls);
  // Not for windows: the model does not tell how many rows they should have, and wrong tiles are slow.
  const bool may_have_three = std::ranges::none_of(
      product.accesses, [&](UOp a) { return a->op == Op::Load && has_overlapping_windows(analysis, a); });
  std::vector<UOp> reuse = reuse_ranges(analysis, product), along;
  std::erase_if(reuse, [&](UOp r) { return !free(r); });
  if (product.chains() > 1)
    along.push_back({});
  else
    for (UOp r : product.result_ranges)
      if (free(r) && analysis.size(r) >= 4) along.push_back(r);
  auto apart = [&](UOp a, UOp b) {
    return std::ranges::none_of(product.accesses,
                                [&](UOp q) { return analysis.depends(q, a) && analysis.depends(q, b); });
  };
  RegisterTile best;
  auto consider = [&](RegisterTile t) {
    if (!model.fits(t) || !keeps_widths(analysis, t, product, given)) return;
    t.cycles = model.cycles(t);
    if (best.cycles == 0 || t.cycles < best.cycles * .999) best = t;
  };
  for (UOp l : along) {
    std::vector<UOp> rows{{}};
    for (UOp r : reuse)
      if (!(r == l)) rows.push_back(r);
    const int64_t tallest =
        l && analysis.size(l) > lanes && analysis.size(l) <= 2 * lanes ? kMaxRowsOfTwoVectors : kMaxRows;
    const int transpose_unroll = unrolls ? model.transpose_unroll(l) : 1;
    for (UOp t : rows) {
      const int64_t allowed = t && model.stores_far(l, t) ? kMaxRows : tallest;
      const int most = t ? static_cast<int>(std::min(allowed, analysis.size(t))) : 1;
      for (int m = t ? 2 : 1;
           transpose_unroll > 1 && m <= std::min<int64_t>(kMaxTransposedResults, t ? analysis.size(t) : 1); ++m) {
        consider({l, t, {}, m, 1, transpose_unroll});
        // Operands that do not depend on the lanes are loaded once for two vectors. Each row is transposed once.
        if (t && m == analysis.size(t) && lanes > kMinTransposed && analysis.size(l) > lanes)
          consider({l, t, l, m, 2, kMinTransposed});
      }
      for (int m = t ? 2 : 1; m <= most; ++m) {
        if (l) {
          for (int n : {1, 2, 3, 4})
            if (n == 3 ? may_have_three && n * lanes <= analysis.size(l) : n == 1 || (n - 1) * lanes < analysis.size(l))
              consider({l, t, l, m, n});
          for (UOp u :
               reuse)  // all of two short ranges, such as those of a window, so that threads may split the lanes
            if (t && m == analysis.size(t) && !(u == t) && !(u == l) && analysis.size(u) <= allowed && apart(l, u) &&
                !model.stores_far(l, u))
              consider({l, t, u, m, static_cast<int>(analysis.size(u))});
          continue;
        }
        consider({l, t, {}, m, 1});
        for (UOp u : reuse)
          if (t && !(u == t))
            for (int n = 2; n <= std::min<int64_t>(6, analysis.size(u)); ++n) consider({l, t, u, m, n});
      }
    }
  }
  return best;
}

}  // namespace sinter::codegen
