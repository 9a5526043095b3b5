// Products of few rows that read the same matrix, such as the steps of a recurrent network, read panels of its columns
// that are stored once in the plan (docs/decisions/0059).
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/build.h"
#include "ir/splat.h"
#include "ir/walk.h"
#include "schedule/graph/fusion_cost.h"
#include "schedule/graph/rebuild_plan.h"
#include "schedule/simplify/simplify.h"
#include "schedule/simplify/strides.h"

namespace sinter::schedule {
namespace {

constexpr int64_t kMinProducts = 8;  ///< that read the matrix
constexpr int64_t kMinRows = 8;      ///< with fewer, products read each element of the factor where it lies
constexpr int64_t kMaxRows = 96;     ///< with more, packing in each product is nothing beside its arithmetic
/// Columns of a panel, in vectors of float32: as many as the columns of a tile that fills 32 registers, and one of 16.
constexpr int64_t kPanelVectors = 4, kPanelVectorsOfFewRegisters = 2;
/// Share of a nearby last cache that a matrix may take. Measured on Zen 2 with matrices of 1 and 4 MB, a second cache
/// of 512 KB and a last one of 16 MB (decision 0059).
constexpr int64_t kLastCacheShare = 4;

/// Bytes of a matrix, at most. The packing saves nothing where each product waits for a distant memory.
int64_t max_matrix_bytes(const runtime::Target& target) {
  return target.near_l3 ? std::max(target.l2, target.l3 / kLastCacheShare) : target.l2;
}
int64_t panel_width(const runtime::Target& target) {
  return (target.vector_registers >= 32 ? kPanelVectors : kPanelVectorsOfFewRegisters) * prices_for(target).lanes;
}

/// A factor that is a matrix, repeated along all other axes of the product.
struct MatrixFactor {
  int64_t depth = -1, columns = -1;  ///< its axes: the one that is summed, and the one that is not
  int64_t rows = 1;                  ///< how often it is repeated
};

/// If the factor is a stored matrix, read without padding or windows.
std::optional<MatrixFactor> matrix_factor(UOp factor, int64_t summed) {
  UOp n = factor;
  for (; ir::is_movement(n->op); n = n->src[0])
    if (n->op == Op::Pad || n->op == Op::Window || n->op == Op::Flip) return {};
  if (n->op != Op::Param && n->op != Op::Contiguous) return {};
  MatrixFactor found;
  const Strides strides = strides_of_view(factor);
  for (size_t a = 0; a < strides.size(); ++a) {
    const auto axis = static_cast<int64_t>(a);
    if (strides[a] < 0 || factor->shape[a].symbolic()) return {};
    if (strides[a] == 0)
      found.rows *= factor->shape[a].value();
    else if (axis == summed)
      found.depth = axis;
    else if (found.columns < 0)
      found.columns = axis;
    else
      return {};
  }
  if (found.depth < 0 || found.columns < 0) return {};
  return found;
}

/// The same values, read from panels of `width` columns that are stored once.
UOp over_panels(UOp factor, const MatrixFactor& matrix, int64_t width) {
  ir::Region first = ir::full_region(factor->shape);
  ir::Ints repeated;  // axes
  for (int64_t a = 0; a < static_cast<int64_t>(factor->rank()); ++a) {
    if (a == matrix.depth || a == matrix.columns) continue;
    first[static_cast<size_t>(a)].end = 1;
    repeated.push_back(a);
  }
  const Dim depth = factor->shape[static_cast<size_t>(matrix.depth)],
            columns = factor->shape[static_cast<size_t>(matrix.columns)];
  const bool deep_first = matrix.depth < matrix.columns;
  const auto oriented = [&](UOp x) { return deep_first ? x : ir::permute(x, {1, 0}); };
  UOp x = ir::reshape(ir::shrink(factor, first), deep_first ? Shape{depth, columns} : Shape{columns, depth});
  x = ir::reshape(oriented(x), {depth, columns.value() / width, width});
  x = ir::contiguous(ir::permute(x, {1, 0, 2}));
  x = oriented(ir::reshape(ir::permute(x, {1, 0, 2}), {depth, columns}));
  return ir::expand(x, factor->shape, repeated);
}

}  // namespace

void pack_shared_factors(PlanGraph& plan, const runtime::Target& target) {
  if (target.cuda()) return;
  // Sums of products are DOTs by now. A product by a constant, such as the zeros of a first step, is a sum of columns.
  const auto is_product = [](UOp n) {
    return is_reduce(n, ir::Combine::Dot) && n->src.size() == 2 && n->reduction().axes.size() == 1 &&
           !ir::splat_const(n->src[0]) && !ir::splat_const(n->src[1]);
  };
  std::unordered_map<const ir::Node*, int64_t> products;  // by factor
  for (UOp n : ir::topological(values_of(plan)))
    if (is_product(n))
      for (UOp factor : n->src) ++products[factor.get()];
  const auto packed = [&](UOp factor, int64_t summed) {
    if (products[factor.get()] < kMinProducts) return factor;
    const std::optional<MatrixFactor> matrix = matrix_factor(factor, summed);
    if (!matrix || matrix->rows < kMinRows || matrix->rows >= kMaxRows) return factor;
    const int64_t width = panel_width(target), columns = factor->shape[static_cast<size_t>(matrix->columns)].value(),
                  depth = factor->shape[static_cast<size_t>(matrix->depth)].value();
    if (columns % width || columns == width ||
        depth * columns * static_cast<int64_t>(size_of(factor->dtype)) > max_matrix_bytes(target))
      return factor;
    return over_panels(factor, *matrix, width);
  };
  rebuild(plan, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (!is_product(n)) return {};
    std::vector<UOp> factors = src;
    for (size_t i = 0; i < factors.size(); ++i)
      if (factors[i] == n->src[i]) factors[i] = packed(factors[i], n->reduction().axes[0]);
    if (factors == src) return {};
    return ir::with_sources(*plan.graph, n, {factors.begin(), factors.end()});
  });
}

}  // namespace sinter::schedule
