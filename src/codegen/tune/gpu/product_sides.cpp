#include "codegen/tune/gpu/product_sides.h"

#include <algorithm>
#include <limits>

#include "codegen/kernel/common_predicate.h"
#include "ir/ceil_div.h"

namespace sinter::codegen {
namespace {

constexpr double kBusiest = 8;             ///< a product does at least this many times the work of any other reduction
constexpr int64_t kSmallTile = 1024;       ///< results
constexpr int64_t kMaxBlocksPerUnit = 16;  ///< blocks of small tiles for each multiprocessor, at most

const StatementAnalysis* busiest_product(TuneSpace& space) {
  const StatementAnalysis* product = nullptr;
  for (const StatementAnalysis& w : space.analysis.statements())
    if (w.is_reduce() && !w.reduced_ranges.empty() && (!product || w.iterations > product->iterations)) product = &w;
  if (!product || product->chains() > 1 || values_of(product->node).size() != 2) return nullptr;
  for (const StatementAnalysis& w : space.analysis.statements())
    if (&w != product && w.is_reduce() && w.iterations * kBusiest > product->iterations) return nullptr;
  // An inner range of the result counts blocks of the sum, on which both factors depend.
  for (UOp value : values_of(product->node))
    for (UOp r : product->result_ranges)
      if (!is_outer(r) && !space.analysis.depends(value, r)) return nullptr;
  return product;
}

/// By how much a step along the range moves the last store; ranges that it lacks come last.
int64_t distance(TuneSpace& space, UOp r) {
  UOp store;
  for (const StatementAnalysis& w : space.analysis.statements())
    if (!w.is_reduce()) store = w.node;
  if (!store) return 0;
  const int64_t stride = space.analysis.stride(store, r);
  return stride == 0 || stride == KernelAnalysis::kScattered ? std::numeric_limits<int64_t>::max() : std::abs(stride);
}

}  // namespace

std::optional<ProductSides> product_sides(TuneSpace& space) {
  const StatementAnalysis* product = busiest_product(space);
  if (!product) return {};
  ProductSides made{product, {}, {}, {}};
  for (size_t i = 0; i < 2; ++i) made.values[i] = without_predicate(values_of(product->node)[i]);
  KernelAnalysis& analysis = space.analysis;
  for (UOp r : product->result_ranges) {
    if (space.is_fixed(r)) continue;
    const bool of[] = {analysis.depends(made.values[0], r), analysis.depends(made.values[1], r)};
    for (size_t i = 0; i < 2; ++i)
      if (of[i] && !of[1 - i]) made.sides[i].push_back(r);
    if (of[0] && of[1] && !is_outer(r)) made.parts.push_back(r);
  }
  for (std::vector<UOp>& side : made.sides)
    std::ranges::sort(side, [&](UOp a, UOp b) {
      return std::pair(distance(space, a), range_id(a)) < std::pair(distance(space, b), range_id(b));
    });
  if (made.sides[0].empty() || made.sides[1].empty()) return {};
  if (distance(space, made.sides[1][0]) < distance(space, made.sides[0][0])) {
    std::swap(made.sides[0], made.sides[1]);
    std::swap(made.values[0], made.values[1]);
  }
  return made;
}

bool fills_machine(TuneSpace& space, const StatementAnalysis& product, const std::vector<RangeShare>& shares) {
  int64_t blocks = 1, tile = 1;
  for (UOp r : product.result_ranges) {
    int64_t width = 1;
    for (const RangeShare& s : shares)
      if (s.range == r) width = s.width();
    blocks *= ceil_div(space.analysis.size(r), width);
    tile *= width;
  }
  const int64_t units = space.target.threads;
  return (tile <= kSmallTile || 2 * blocks >= units) && (tile > kSmallTile || blocks <= kMaxBlocksPerUnit * units);
}

}  // namespace sinter::codegen
