// The rows of x get an axis of blocks and one of the keys in a block, and so do both factors of the second product.
#include "schedule/simplify/online_softmax.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "ir/ceil_div.h"
#include "schedule/graph/rebuild_plan.h"
#include "schedule/simplify/bounded_keys.h"
#include "schedule/simplify/fused_reductions.h"
#include "schedule/simplify/mma_factors.h"
#include "schedule/simplify/strides.h"

namespace sinter::schedule {
namespace {

using ir::Combine;
using ir::Op;
using ir::UOp;

/// Keys of a block: as many results as a thread can hold beside those of the second product.
constexpr int64_t kMaxKeys = 128, kMinKeys = 32;
constexpr int64_t kMinQueries = 16;    ///< rows of a tensor core's tile
constexpr int64_t kMaxFeatures = 128;  ///< of the second product's results
constexpr int64_t kMaxDepth = 256;     ///< elements that the first product sums: a row of it is staged as a whole

/// Keys of a block, of which there are two or more: as many as possible while few of the last block do not exist. 0 if
/// the keys are too few.
int64_t keys_of_block(int64_t keys) {
  for (int64_t block = kMaxKeys; block > kMinKeys; block /= 2)
    if (block < keys && round_up(keys, block) - keys <= keys / 8) return block;
  return kMinKeys < keys ? kMinKeys : 0;
}

/// Whether a value does not differ along an axis.
bool lacks(UOp value, int64_t axis) { return strides_of_view(value)[static_cast<size_t>(axis)] == 0; }

/// Whether n, [.., queries, keys], is a sum of products of 16-bit values over one short axis: of rows that lack the
/// keys and columns that lack the queries.
bool is_score_product(UOp n) {
  if (!is_reduce(n, Combine::Add) || n->src[0]->op != Op::Mul || n->reduction().axes.size() != 1) return false;
  const UOp a = narrow_source(n->src[0]->src[0]), b = narrow_source(n->src[0]->src[1]);
  const int64_t summed = n->reduction().axes[0], last = static_cast<int64_t>(n->rank()) - 1;
  const Dim& depth = n->src[0]->shape[static_cast<size_t>(summed)];
  if (!a || !b || a->dtype != b->dtype || last < 1 || depth.symbolic()) return false;
  if (depth.value() < static_cast<int64_t>(ir::mma_step_length(a->dtype)) || depth.value() > kMaxDepth) return false;
  const int64_t keys = last + (last >= summed), queries = last - 1 + (last - 1 >= summed);
  const auto is = [&](UOp rows, UOp columns) {
    return lacks(rows, keys) && !lacks(rows, queries) && lacks(columns, queries) && !lacks(columns, keys);
  };
  return is(a, b) || is(b, a);
}

/// Whether exactly one reduction stands below x and the elementwise ops on top of it, and is such a product.
bool is_made_of_product(UOp x) {
  const std::vector<UOp> nodes = ir::topological(std::span<const UOp>(&x, 1), [](UOp n) { return ir::is_alu(n->op); });
  int products = 0;
  for (UOp n : nodes) {
    if (n->op == Op::Reduce && !is_score_product(n)) return false;
    products += n->op == Op::Reduce;
  }
  return products == 1;
}

/// A sum of softmax weights times other values.
struct WeightedSum {
  UOp x;             ///< [rows.., keys]
  UOp other;         ///< the other factor, as the sum's source
  DType weight;      ///< type that weights are rounded to
  int64_t features;  ///< axis of the sum's source that weights are repeated along
  int64_t keys;      ///< axis that is summed
  int64_t block;     ///< keys in a block
};

std::optional<WeightedSum> match(UOp n) {
  if (!is_reduce(n, Combine::Add) || n->src[0]->op != Op::Mul || n->reduction().axes.size() != 1) return {};
  const UOp mul = n->src[0];
  for (size_t side : {0, 1}) {
    const UOp factor = narrow_source(mul->src[side]), other = mul->src[1 - side];
    if (!factor || factor->op != Op::Expand || factor->src[0]->op != Op::Cast) continue;
    const UOp rounded = factor->src[0], weight = rounded->src[0];
    if (!is_softmax_weight(weight)) continue;
    const UOp x = weight->src[0]->src[0]->src[0];
    if (factor->ints().size() != 1 || x->rank() < 2) return {};
    WeightedSum sum{x, other, rounded->dtype, factor->ints()[0], n->reduction().axes[0], 0};
    const int64_t along = sum.features, last = static_cast<int64_t>(x->rank()) - 1;
    const auto in_sum = [&](int64_t axis) { return axis + (axis >= along); };  // of x
    const Dim &features = factor->shape[static_cast<size_t>(along)], &keys = x->shape[x->rank() - 1],
              &queries = x->shape[x->rank() - 2];
    if (in_sum(last) != sum.keys || weight->src[1]->src[0]->reduction().axes != ir::Ints{last}) return {};
    if (features.symbolic() || keys.symbolic() || queries.symbolic()) return {};
    sum.block = keys_of_block(keys.value());
    const bool fits = queries.value() >= kMinQueries && features.value() % (2 * ir::kMmaTileColumns) == 0;
    const UOp values = narrow_source(other);
    if (sum.block == 0 || !fits || features.value() > kMaxFeatures || !values || values->dtype != sum.weight) return {};
    if (!lacks(values, in_sum(last - 1)) || lacks(values, sum.keys) || lacks(values, along)) return {};
    if (!is_made_of_product(x)) return {};
    return sum;
  }
  return {};
}

/// The shape with an axis of blocks and one of keys in place of `axis`.
Shape in_blocks(const Shape& shape, int64_t axis, int64_t block) {
  Shape out;
  for (size_t a = 0; a < shape.rank(); ++a) {
    const bool keys = static_cast<int64_t>(a) == axis;
    out.push_back(keys ? Dim(shape[a].value() / block) : shape[a]);
    if (keys) out.push_back(block);
  }
  return out;
}

/// A value with a longer axis: repeated where it does not differ along the axis, else 0 beyond its end.
UOp continued(UOp n, int64_t axis, int64_t size) {
  Shape shape = n->shape;
  shape[static_cast<size_t>(axis)] = size;
  if (n->op == Op::Expand && std::ranges::find(n->ints(), axis) != n->ints().end())
    return ir::expand(n->src[0], shape, n->ints());
  ir::Region box = ir::full_region(n->shape);
  if (!lacks(n, axis)) return ir::pad(n, box, shape);
  box[static_cast<size_t>(axis)] = {0, 1};
  return ir::expand(ir::reshape(ir::shrink(n, box), ir::without(n->shape, {axis})), shape, {axis});
}

/// The scores x, [.., keys], of more keys: -inf of those that do not exist, which weigh nothing.
UOp with_keys(ir::Graph& g, UOp x, int64_t keys) {
  const auto last = static_cast<int64_t>(x->rank()) - 1;
  std::map<ir::Node*, UOp> made;
  for (UOp n : ir::topological(std::span<const UOp>(&x, 1), [](UOp n) { return ir::is_alu(n->op); })) {
    if (n->op == Op::Reduce) {
      const int64_t summed = n->reduction().axes[0], axis = last + (last >= summed);
      const auto factor = [&](size_t i) { return continued(n->src[0]->src[i], axis, keys); };
      made[n.get()] = ir::reduce(Combine::Add, factor(0) * factor(1), {summed});
    } else if (ir::is_alu(n->op)) {
      std::vector<UOp> src;
      for (UOp from : n->src) src.push_back(made[from.get()]);
      const Shape shape = src[0]->shape;
      made[n.get()] = g.make({n->op, n->dtype, shape, src, n->attr, n->device});
    } else {
      made[n.get()] = continued(n, last, keys);
    }
  }
  const UOp scores = made[x.get()], exists = ir::pad(ir::true_like(x), ir::full_region(x->shape), scores->shape);
  return ir::where(exists, scores, ir::like(scores, -std::numeric_limits<double>::infinity()));
}

/// A reduction of a row in the order in which the threads that hold a tile of tensor cores join their elements.
UOp row_reduction(ir::Graph& g, Combine combine, UOp x) {
  const auto last = static_cast<int64_t>(x->rank()) - 1;
  return g.make({Op::Reduce,
                 x->dtype,
                 ir::without(x->shape, {last}),
                 {x},
                 ir::ReduceAttr{combine, {last}, {.lanes = static_cast<int>(ir::kMmaTileColumns)}}});
}

UOp rolled(ir::Graph& g, const WeightedSum& s) {
  const int64_t count = s.x->shape[s.x->rank() - 1].value(), keys = round_up(count, s.block);
  const auto [bounded, seen] = bound_keys(s.x, s.block, keys / s.block);
  const UOp scores = keys == count ? bounded : with_keys(g, bounded, keys);
  const UOp other = keys == count ? s.other : continued(s.other, s.keys, keys);
  const auto rank = static_cast<int64_t>(s.x->rank());
  const UOp x = ir::reshape(scores, in_blocks(scores->shape, rank - 1, s.block));
  const UOp maximum = row_reduction(g, Combine::Max, x);
  // A block without any key that counts: its e are 0, not NaN.
  const UOp finite = ir::lt(ir::alu(Op::Abs, {maximum}), ir::like(maximum, std::numeric_limits<double>::infinity()));
  const UOp shift = ir::where(finite, maximum, ir::like(maximum, 0.0));
  const UOp e = ir::exp(x - ir::expand(shift, x->shape, {rank}));
  const UOp sums = row_reduction(g, Combine::Add, e);

  const Shape shape = in_blocks(other->shape, s.keys, s.block);
  const int behind = s.features > s.keys;
  const UOp weights = ir::expand(ir::cast(ir::cast(e, s.weight), DType::F32), shape, {s.features + behind});
  const UOp products = ir::reduce(Combine::Add, weights * ir::reshape(other, shape), {s.keys + 1});
  // A block of which a row sees no key adds nothing, whatever its values are, and need not be computed.
  const auto added = [&, blocks = seen](UOp of_block, double otherwise) {
    if (!blocks) return of_block;
    const UOp here = of_block->rank() == blocks->rank() ? blocks : ir::expand(blocks, of_block->shape, {s.features});
    return ir::where(here, of_block, ir::like(of_block, otherwise));
  };
  const UOp top = added(maximum, -std::numeric_limits<double>::infinity());
  const UOp o[] = {ir::expand(top, products->shape, {s.features}), added(products, 0)}, l[] = {top, added(sums, 0)};
  const UOp total = ir::reduce(Combine::ExpSum, o, {s.keys}, 1), norm = ir::reduce(Combine::ExpSum, l, {rank - 1}, 1);
  return total / ir::expand(norm, total->shape, {s.features - behind});
}

}  // namespace

void roll_softmax(PlanGraph& plan, const runtime::Target& target) {
  if (!has_mma_steps(target)) return;
  rebuild(plan, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (n->op != Op::Reduce) return {};
    const std::optional<WeightedSum> sum = match(ir::with_sources(*plan.graph, n, src));
    return sum ? rolled(*plan.graph, *sum) : UOp();
  });
}

}  // namespace sinter::schedule
