// The rows of x get an axis of blocks and one of the keys in a block, and so do both factors of the second product.
#include "schedule/simplify/online_softmax.h"

#include <limits>
#include <optional>

#include "ir/ceil_div.h"
#include "schedule/graph/rebuild_plan.h"
#include "schedule/simplify/bounded_keys.h"
#include "schedule/simplify/fused_reductions.h"
#include "schedule/simplify/mma_factors.h"
#include "schedule/simplify/score_blocks.h"
#include "schedule/simplify/softmax_gradient.h"

namespace sinter::schedule {
namespace {

using ir::Combine;

/// Keys of a block: as many results as a thread can hold beside those of the second product.
constexpr int64_t kMaxKeys = 128;

/// A sum of softmax weights times other values.
struct WeightedSum {
  UOp x;             ///< [rows.., keys]
  UOp other;         ///< the other factor, as the sum's source
  DType weight;      ///< type that weights are rounded to
  int64_t features;  ///< axis of the sum's source that weights are repeated along
  int64_t keys;      ///< axis that is summed
};

std::optional<WeightedSum> match(UOp n) {
  if (!is_reduce(n, Combine::Add) || n->src[0]->op != Op::Mul || n->reduction().axes.size() != 1) return {};
  const UOp mul = n->src[0];
  for (size_t side : {0, 1}) {
    const UOp factor = narrow_source(mul->src[side]), other = mul->src[1 - side];
    if (!factor || factor->op != Op::Expand || factor->src[0]->op != Op::Cast) continue;
    const UOp rounded = factor->src[0], weight = rounded->src[0];
    if (!is_softmax_weight(weight)) continue;
    const UOp x = scores_of(weight);
    if (factor->ints().size() != 1 || x->rank() < 2) return {};
    const WeightedSum sum{x, other, rounded->dtype, factor->ints()[0], n->reduction().axes[0]};
    const int64_t along = sum.features, last = static_cast<int64_t>(x->rank()) - 1;
    const auto in_sum = [&](int64_t axis) { return axis + (axis >= along); };  // of x
    const Dim& features = factor->shape[along];
    if (in_sum(last) != sum.keys || weight->src[1]->src[0]->reduction().axes != ir::Ints{last}) return {};
    if (features.symbolic() || features.value() % (2 * ir::kMmaTileColumns) != 0) return {};
    const UOp values = narrow_source(other);
    if (features.value() > kMaxPairedFeatures || !values || values->dtype != sum.weight) return {};
    if (!lacks(values, in_sum(last - 1)) || lacks(values, sum.keys) || lacks(values, along)) return {};
    return has_softmax_blocks(x) ? std::optional(sum) : std::nullopt;
  }
  return {};
}

/// The largest score of a row, or the sum of its weights relative to it, of all blocks.
UOp joined(const SoftmaxBlocks& blocks, int result) {
  const UOp values[] = {blocks.maximum, blocks.sum};
  return ir::reduce(Combine::ExpSum, values, {static_cast<int64_t>(blocks.sum->rank()) - 1}, result);
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
  const SoftmaxBlocks blocks = softmax_in_blocks(g, s.x);
  const auto rank = static_cast<int64_t>(s.x->rank());
  const int64_t block = blocks.e->shape[rank].value();
  const int64_t keys = blocks.e->shape[static_cast<size_t>(rank) - 1].value() * block;
  const bool whole = s.x->shape[static_cast<size_t>(rank) - 1] == keys;
  const UOp other = whole ? s.other : continued(s.other, s.keys, keys);
  const Shape shape = in_blocks(other->shape, s.keys, block);
  const int behind = s.features > s.keys;
  const UOp weights = ir::expand(ir::cast(ir::cast(blocks.e, s.weight), DType::F32), shape, {s.features + behind});
  UOp products = ir::reduce(Combine::Add, weights * ir::reshape(other, shape), {s.keys + 1});
  if (blocks.seen)
    products = ir::where(ir::expand(blocks.seen, products->shape, {s.features}), products, ir::like(products, 0.0));
  const UOp o[] = {ir::expand(blocks.maximum, products->shape, {s.features}), products};
  const UOp total = ir::reduce(Combine::ExpSum, o, {s.keys}, 1);
  return total / ir::expand(joined(blocks, 1), total->shape, {s.features - behind});
}

}  // namespace

bool has_softmax_blocks(UOp x) {
  if (x->rank() < 2) return false;
  const Dim &keys = x->shape[x->rank() - 1], &queries = x->shape[x->rank() - 2];
  if (keys.symbolic() || queries.symbolic() || queries.value() < kMinScoreRows) return false;
  return elements_of_block(keys.value(), kMaxKeys) > 0 && score_products_below(x) == 1;
}

SoftmaxBlocks softmax_in_blocks(ir::Graph& g, UOp given) {
  const auto rank = static_cast<int64_t>(given->rank());
  const int64_t count = given->shape[static_cast<size_t>(rank) - 1].value();
  const int64_t block = elements_of_block(count, kMaxKeys), keys = round_up(count, block);
  const auto [bounded, seen] = bound_keys(given, block, keys / block);
  const UOp scores = keys == count ? bounded : ScoresOfFactors(g, rank - 1, keys, 0).made_of_scores(bounded);
  const UOp x = ir::reshape(scores, in_blocks(scores->shape, rank - 1, block));
  const UOp maximum = row_reduction(g, Combine::Max, x);
  // A block without any key that counts: its e are 0, not NaN.
  const UOp finite = ir::lt(ir::alu(Op::Abs, {maximum}), ir::like(maximum, std::numeric_limits<double>::infinity()));
  const UOp shift = ir::where(finite, maximum, ir::like(maximum, 0.0));
  const UOp e = ir::exp(x - ir::expand(shift, x->shape, {rank}));
  SoftmaxBlocks out{e, maximum, row_reduction(g, Combine::Add, e), seen, bounded};
  if (!seen) return out;
  // A block of which a row sees no key adds nothing, whatever its values are, and need not be computed.
  out.maximum = ir::where(seen, maximum, ir::like(maximum, -std::numeric_limits<double>::infinity()));
  out.sum = ir::where(seen, out.sum, ir::like(out.sum, 0.0));
  return out;
}

UOp log_of_sum(const SoftmaxBlocks& blocks) { return joined(blocks, 0) + ir::log(joined(blocks, 1)); }

UOp roll_weighted_sum(ir::Graph& g, UOp n) {
  const std::optional<WeightedSum> sum = match(n);
  return sum ? rolled(g, *sum) : UOp();
}

void roll_softmax(PlanGraph& plan, const runtime::Target& target) {
  if (!has_mma_steps(target)) return;
  rebuild(plan, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (n->op != Op::Reduce) return {};
    const UOp sum = ir::with_sources(*plan.graph, n, src);
    const UOp made = roll_weighted_sum(*plan.graph, sum);
    return made ? made : softmax_gradient(*plan.graph, sum);
  });
}

}  // namespace sinter::schedule
