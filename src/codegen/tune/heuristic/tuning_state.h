// What the heuristic for CPUs has decided so far about a kernel. Each of its steps reads this and adds to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/nest/tile.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/materialize_rows.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

inline constexpr int64_t kShortLoop = 4;  ///< trip count of a loop that may be unrolled completely
/// Cycles that a task should take, so that the cost of a launch is small.
inline constexpr double kTaskCycles = 1 << 14;
inline constexpr double kMinProductCycles = kTaskCycles / 16;  ///< cheaper products are not worth longer code
inline constexpr double kMaxBodyOperations = 240;              ///< operations of an unrolled loop body, at most

/// A range whose loop is cut where conditions on it change, and what that leaves of the statements that run over it.
struct RangeCut {
  struct Left {
    const StatementAnalysis* work;
    double cycles;      ///< operations and accesses per element, on average over the segments
    double operations;  ///< in the busiest segment
  };
  UOp range;
  std::vector<int64_t> seams;  ///< ascending
  std::vector<Left> left;
  const Left* of(const StatementAnalysis& w) const {
    const auto it = std::ranges::find(left, &w, &Left::work);
    return it == left.end() ? nullptr : &*it;
  }
};

struct TuningState {
  /// A reduction that gets a register tile.
  struct TiledProduct {
    const StatementAnalysis* work;
    RegisterTile tile;
  };

  TuningState(const Kernel& kernel, const runtime::Target& target)
      : kernel(kernel),
        target(target),
        materializations(legal_materializations(kernel, target, 4 * kLargestTile)),
        analysis(with_materialized(kernel, materializations)) {}

  TuningState(const TuningState&) = delete;  // `products` points into `analysis`
  TuningState& operator=(const TuningState&) = delete;

  RangeWidth& width(UOp range) {
    auto it = std::ranges::find_if(widths, [&](const RangeWidth& w) { return w.range == range; });
    return it == widths.end() ? widths.emplace_back(RangeWidth{range}) : *it;
  }
  int64_t width_of(UOp range) const { return codegen::width_of(widths, range).total(); }
  /// Whether a range belongs to the register tile of a product.
  bool is_tiled(UOp range) const {
    return std::ranges::any_of(products, [&](const TiledProduct& p) {
      return p.tile.lane_range == range || p.tile.row_range == range || p.tile.column_range == range;
    });
  }
  bool is_product(const StatementAnalysis& w) const {
    return std::ranges::any_of(products, [&](const TiledProduct& p) { return p.work == &w; });
  }
  /// Cycles without vectors.
  static double scalar_cycles(const StatementAnalysis& w) {
    return w.iterations * (w.operations + static_cast<double>(w.accesses.size()));
  }

  /// The same with the loop of `cut` cut.
  double cycles(const StatementAnalysis& w) const {
    const RangeCut::Left* left = cut ? cut->of(w) : nullptr;
    return left ? w.iterations * left->cycles : scalar_cycles(w);
  }
  /// Operations per element in the loop body where it is longest.
  double operations(const StatementAnalysis& w) const {
    const RangeCut::Left* left = cut ? cut->of(w) : nullptr;
    return left ? left->operations : w.operations;
  }

  const Kernel& kernel;
  const runtime::Target& target;
  const std::vector<Materialize> materializations;
  KernelAnalysis analysis;               ///< of the kernel with `materializations`
  int lanes = 1;                         ///< lanes of a register, for the kernel's usual elements
  std::vector<UOp> fixed, lane_ranges;   ///< sequential ranges; ranges with lanes
  std::vector<UOp> strided_lane_ranges;  ///< ranges with lanes along which memory is strided
  bool stores_row_streams = false;       ///< stores write whole lines of many rows, which no cache holds
  std::vector<RangeWidth> widths;
  std::optional<RangeCut> cut;
  std::vector<TiledProduct> products;  ///< busiest first
  std::vector<UOp> packed_operands;    ///< operands that each task packs
  std::vector<Opt> opts;
};

}  // namespace sinter::codegen
