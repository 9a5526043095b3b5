// What the heuristic for CPUs has decided so far of a kernel: each of its steps reads this and adds to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/nest/tile.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/materialize_rows.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

inline constexpr int64_t kShortLoop = 4;  ///< values of a loop that may become copies
inline constexpr double kTaskCycles =
    1 << 14;  ///< cycles that a point should take, so that a launch of points costs little
inline constexpr double kMinProductCycles = kTaskCycles / 16;  ///< fewer are not worth longer code
inline constexpr double kMaxBodyOperations = 240;  ///< operations of a loop body above which it is not copied

struct TuningState {
  /// A sum that gets a register tile.
  struct TiledProduct {
    const StatementAnalysis* work;
    RegisterTile tile;
  };

  TuningState(const Kernel& kernel, const runtime::Target& target)
      : kernel(kernel),
        target(target),
        materializations(legal_materializations(kernel, target, 4 * kLargestTile)),
        analysis(with_materialized(kernel, materializations)) {}

  TuningState(const TuningState&) = delete;  // products point into the analysis
  TuningState& operator=(const TuningState&) = delete;

  RangeWidth& width(ir::UOp range) {
    auto it = std::find_if(widths.begin(), widths.end(), [&](const RangeWidth& w) { return w.range == range; });
    return it == widths.end() ? widths.emplace_back(RangeWidth{range}) : *it;
  }
  int64_t width_of(ir::UOp range) const { return codegen::width_of(widths, range).total(); }
  /// Whether the copies of a range are those of a product.
  bool is_tiled(ir::UOp range) const {
    return std::any_of(products.begin(), products.end(), [&](const TiledProduct& p) {
      return p.tile.lane_range == range || p.tile.row_range == range || p.tile.column_range == range;
    });
  }
  bool is_product(const StatementAnalysis& w) const {
    return std::any_of(products.begin(), products.end(), [&](const TiledProduct& p) { return p.work == &w; });
  }
  /// Without vectors.
  static double scalar_cycles(const StatementAnalysis& w) {
    return w.iterations * (w.operations + static_cast<double>(w.accesses.size()));
  }

  const Kernel& kernel;
  const runtime::Target& target;
  const std::vector<Materialize> materializations;
  KernelAnalysis analysis;                   ///< with these rows
  int lanes = 1;                             ///< of a register, for the kernel's usual elements
  std::vector<ir::UOp> fixed, lane_ranges;   ///< ranges that keep their order; those with lanes
  std::vector<ir::UOp> strided_lane_ranges;  ///< ranges with lanes along which memory is strided
  bool stores_row_streams = false;           ///< whole lines of many rows are stored at a time, and no cache holds them
  std::vector<RangeWidth> widths;
  std::vector<TiledProduct> products;    ///< the busiest first
  std::vector<ir::UOp> packed_operands;  ///< operands that each point copies
  std::vector<Opt> opts;
};

}  // namespace sinter::codegen
