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

inline constexpr int64_t kShortLoop = 4;   ///< values of a loop that may become copies
inline constexpr double kPoint = 1 << 14;  ///< cycles that a point should take, so that a launch of points costs little
inline constexpr double kShortProduct = kPoint / 16;  ///< fewer are not worth longer code
inline constexpr double kLongCode = 240;              ///< operations of a loop body above which it is not copied

struct Choice {
  /// A sum that gets a register tile.
  struct Product {
    const Work* work;
    RegisterTile tile;
  };

  Choice(const Kernel& kernel, const runtime::Target& target)
      : kernel(kernel), target(target), rows(legal_rows(kernel, target, 4 * kLargestTile)), view(with(kernel, rows)) {}

  Choice(const Choice&) = delete;  // products point into the view
  Choice& operator=(const Choice&) = delete;

  Width& width(ir::UOp range) {
    auto it = std::find_if(widths.begin(), widths.end(), [&](const Width& w) { return w.range == range; });
    return it == widths.end() ? widths.emplace_back(Width{range}) : *it;
  }
  int64_t width_of(ir::UOp range) const { return codegen::width_of(widths, range).all(); }
  /// Whether the copies of a range are those of a product.
  bool tiled(ir::UOp range) const {
    return std::any_of(products.begin(), products.end(), [&](const Product& p) {
      return p.tile.lanes == range || p.tile.first == range || p.tile.second == range;
    });
  }
  bool is_product(const Work& w) const {
    return std::any_of(products.begin(), products.end(), [&](const Product& p) { return p.work == &w; });
  }
  /// Without vectors.
  static double cycles(const Work& w) { return w.iterations * (w.operations + static_cast<double>(w.accesses.size())); }

  const Kernel& kernel;
  const runtime::Target& target;
  const std::vector<Row> rows;
  View view;                            ///< with these rows
  int lanes = 1;                        ///< of a register, for the kernel's usual elements
  std::vector<ir::UOp> fixed, vectors;  ///< ranges that keep their order; those with lanes
  std::vector<ir::UOp> transposed;      ///< ranges with lanes along which memory is strided
  bool scattered = false;               ///< whole lines of many rows are stored at a time, and no cache holds them
  std::vector<Width> widths;
  std::vector<Product> products;  ///< the busiest first
  std::vector<ir::UOp> staged;    ///< operands that each point copies
  std::vector<Opt> opts;
};

}  // namespace sinter::codegen
