// A longer axis is made by padding factors, so that products need not be padded.
#include "schedule/simplify/score_blocks.h"

#include <limits>

#include "ir/ceil_div.h"
#include "ir/contains.h"
#include "schedule/graph/rebuild_plan.h"
#include "schedule/simplify/mma_factors.h"
#include "schedule/simplify/strides.h"

namespace sinter::schedule {
namespace {

using ir::Combine;

constexpr int64_t kMinElements = 32;  ///< of a block
constexpr int64_t kMaxDepth = 256;    ///< elements that a score sums: a row of a factor is staged as a whole

}  // namespace

int64_t elements_of_block(int64_t size, int64_t most) {
  for (int64_t block = most; block > kMinElements; block /= 2)
    if (block < size && round_up(size, block) - size <= size / 8) return block;
  return kMinElements < size ? kMinElements : 0;
}

bool lacks(UOp value, int64_t axis) { return strides_of_view(value)[axis] == 0; }

bool is_score_product(UOp n) {
  if (!is_reduce(n, Combine::Add) || n->dtype != DType::F32) return false;
  if (n->src[0]->op != Op::Mul || n->reduction().axes.size() != 1) return false;
  const UOp a = narrow_source(n->src[0]->src[0]), b = narrow_source(n->src[0]->src[1]);
  const int64_t summed = n->reduction().axes[0], last = static_cast<int64_t>(n->rank()) - 1;
  const Dim& depth = n->src[0]->shape[summed];
  if (!a || !b || a->dtype != b->dtype || last < 1 || depth.symbolic()) return false;
  if (depth.value() < static_cast<int64_t>(ir::mma_step_length(a->dtype)) || depth.value() > kMaxDepth) return false;
  const int64_t keys = last + (last >= summed), queries = last - 1 + (last - 1 >= summed);
  const auto is = [&](UOp rows, UOp columns) {
    return lacks(rows, keys) && !lacks(rows, queries) && lacks(columns, queries) && !lacks(columns, keys);
  };
  return is(a, b) || is(b, a);
}

int score_products_below(UOp x) {
  const std::vector<UOp> nodes = ir::topological(std::span<const UOp>(&x, 1), [](UOp n) { return ir::is_alu(n->op); });
  int products = 0;
  for (UOp n : nodes) {
    if (n->op == Op::Reduce && !is_score_product(n)) return -1;
    products += n->op == Op::Reduce;
  }
  return products;
}

Shape in_blocks(const Shape& shape, int64_t axis, int64_t block) {
  Shape out;
  for (size_t a = 0; a < shape.rank(); ++a) {
    const bool cut = static_cast<int64_t>(a) == axis;
    out.push_back(cut ? Dim(shape[a].value() / block) : shape[a]);
    if (cut) out.push_back(block);
  }
  return out;
}

UOp continued(UOp n, int64_t axis, int64_t size) {
  Shape shape = n->shape;
  shape[axis] = size;
  if (n->op == Op::Expand && ir::contains(n->ints(), axis)) return ir::expand(n->src[0], shape, n->ints());
  ir::Region box = ir::full_region(n->shape);
  if (!lacks(n, axis)) return ir::pad(n, box, shape);
  box[axis] = {0, 1};
  return ir::expand(ir::reshape(ir::shrink(n, box), ir::without(n->shape, {axis})), shape, {axis});
}

UOp ScoresOfFactors::leaf(UOp n, int64_t axis) const {
  const UOp all = n->shape[axis] == size_ ? n : continued(n, axis, size_);
  return block_ ? ir::reshape(all, in_blocks(all->shape, axis, block_)) : all;
}

UOp ScoresOfFactors::made(UOp x) {
  const auto enters = [&](UOp n) { return ir::is_alu(n->op) && !known.contains(n); };
  for (UOp n : ir::topological(std::span<const UOp>(&x, 1), enters)) {
    if (known.contains(n)) continue;
    if (n->op == Op::Reduce) {
      const int64_t summed = n->reduction().axes[0], axis = axis_ + (axis_ >= summed);
      const UOp factors = leaf(n->src[0]->src[0], axis) * leaf(n->src[0]->src[1], axis);
      known[n] = ir::reduce(Combine::Add, factors, {summed + (block_ && summed > axis)});
    } else if (ir::is_alu(n->op)) {
      std::vector<UOp> src = ir::mapped(n->src, [&](UOp from) { return known.at(from); });
      const Shape shape = src[0]->shape;
      known[n] = graph_.make({n->op, n->dtype, shape, src, n->attr, n->device});
    } else {
      known[n] = leaf(n, axis_);
    }
  }
  return known.at(x);
}

UOp ScoresOfFactors::made_of_scores(UOp x) {
  const UOp longer = made(x);
  Shape shape = x->shape;
  shape[axis_] = size_;
  const UOp exists = ir::reshape(ir::pad(ir::true_like(x), ir::full_region(x->shape), shape), longer->shape);
  return ir::where(exists, longer, ir::like(longer, -std::numeric_limits<double>::infinity()));
}

}  // namespace sinter::schedule
