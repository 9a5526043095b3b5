// First matches all of the factor, then builds its elements again from factors that are cut into blocks.
#include "schedule/simplify/softmax_gradient.h"

#include <optional>
#include <unordered_map>

#include "ir/ceil_div.h"
#include "ir/splat.h"
#include "schedule/graph/rebuild_plan.h"
#include "schedule/simplify/bounded_keys.h"
#include "schedule/simplify/fused_reductions.h"
#include "schedule/simplify/mma_factors.h"
#include "schedule/simplify/online_softmax.h"
#include "schedule/simplify/score_blocks.h"

namespace sinter::schedule {
namespace {

using ir::Combine;

/// Keys or queries of a block: results of two or three products fit the registers of a thread.
constexpr int64_t kMaxKeysAtOnce = 64, kMaxQueriesAtOnce = 32;
/// Rows of the result from which a mask hides a block together: those of a block of threads.
constexpr int64_t kRowsTogether = 128;
/// Elements of one chain of steps: with terms of one sign its error is 2e-4, and results have 11 bits or 8.
constexpr int64_t kMaxSummed = 32768;

/// The adjoint of a softmax: (expand(sum of -(g * w / l)) + g / l) * e.
struct SoftmaxAdjoint {
  UOp weight, gradient;
};

/// Matches `op` with a source that `is` accepts; returns the other source.
template <class Is>
UOp other_source(UOp n, Op op, Is is) {
  if (n->op != op) return {};
  return is(n->src[0]) ? n->src[1] : is(n->src[1]) ? n->src[0] : UOp();
}

std::optional<SoftmaxAdjoint> match_adjoint(UOp n) {
  if (n->op != Op::Mul) return {};
  for (size_t side : {0, 1}) {
    const UOp e = n->src[side], add = n->src[1 - side];
    if (e->op != Op::Exp || add->op != Op::Add) continue;
    for (size_t first : {0, 1}) {
      const UOp mean = add->src[first], share = add->src[1 - first];
      if (mean->op != Op::Expand || share->op != Op::Div || !is_reduce(mean->src[0], Combine::Add)) continue;
      const UOp g = share->src[0], l = share->src[1], sum = mean->src[0];
      const UOp weight = other_source(
          sum->src[0]->op == Op::Neg && sum->src[0]->src[0]->op == Op::Div && sum->src[0]->src[0]->src[1] == l
              ? sum->src[0]->src[0]->src[0]
              : sum,
          Op::Mul, [&](UOp s) { return s == g; });
      if (!weight || !is_softmax_weight(weight) || !(weight->src[0] == e) || !(weight->src[1] == l)) continue;
      if (mean->ints() == l->ints() && sum->reduction().axes == l->ints()) return SoftmaxAdjoint{weight, g};
    }
  }
  return {};
}

bool is_zero(UOp n) {
  const UOp value = ir::splat_const(n);
  return value && value->scalar() == ir::Scalar::of(value->dtype, 0);
}

/// The value at the first element of an axis along which it does not differ, without the axis.
UOp without_axis(UOp n, int64_t axis) {
  if (n->op == Op::Expand && n->ints() == ir::Ints{axis}) return n->src[0];
  ir::Region box = ir::full_region(n->shape);
  box[axis] = {0, 1};
  return ir::reshape(ir::shrink(n, box), ir::without(n->shape, {axis}));
}

class GradientOfSum {
 public:
  explicit GradientOfSum(ir::Graph& g) : g_(g) {}

  /// The sum if one of its factors is made of weights; null if not.
  UOp of_factor(UOp n, size_t side) {
    const UOp mul = n->src[0], factor = narrow_source(mul->src[side]), other = narrow_source(mul->src[1 - side]);
    if (!factor || !other || factor->dtype != other->dtype) return {};
    if (factor->op != Op::Expand || factor->ints().size() != 1 || factor->src[0]->op != Op::Cast) return {};
    const UOp value = factor->src[0]->src[0];
    const int64_t along = factor->ints()[0], axis = n->reduction().axes[0];
    const auto last = static_cast<int64_t>(value->rank()) - 1;
    if (last < 1) return {};
    const auto in_sum = [&](int64_t a) { return a + (a >= along); };  // an axis of the value
    const bool of_keys = axis == in_sum(last);
    if (!of_keys && axis != in_sum(last - 1)) return {};
    if (!lacks(other, in_sum(of_keys ? last - 1 : last)) || lacks(other, axis) || lacks(other, along)) return {};
    const Dim &features = factor->shape[along], &summed = factor->shape[axis],
              &rows = value->shape[of_keys ? last - 1 : last];
    if (features.symbolic() || summed.symbolic() || rows.symbolic() || summed.value() > kMaxSummed) return {};
    if (features.value() % (2 * ir::kMmaTileColumns) != 0 || features.value() > kMaxPairedFeatures) return {};
    const int64_t block = elements_of_block(summed.value(), of_keys ? kMaxKeysAtOnce : kMaxQueriesAtOnce);
    if (rows.value() < kMinScoreRows || block == 0) return {};
    const int64_t size = round_up(summed.value(), block);

    const int64_t cut_axis = of_keys ? last : last - 1;
    const UOp plain = without_row_sums(value, cut_axis);
    // Of a sum over keys, which the forward pass has too, only that of a gradient.
    if (!plain || (of_keys && !has_adjoint_)) return {};
    const UOp in_parts = cut(plain, cut_axis, size, block);
    const UOp longer = summed == size ? other : continued(other, axis, size);
    const Shape shape = in_blocks(longer->shape, axis, block);
    const int64_t repeated = along + (along > axis);
    UOp rounded = ir::cast(in_parts, factor->dtype), blocks = ir::reshape(longer, shape);
    // A block that is hidden from all rows adds nothing, whatever its values are, and need not be computed.
    if (const UOp tiles =
            of_keys ? seen_tiles(scores_, kRowsTogether, block) : seen_tiles(scores_, block, kRowsTogether)) {
      const UOp seen = ir::expand(of_rows(tiles, of_keys ? last - 1 : last, rows), in_parts->shape, {cut_axis + 1});
      rounded = ir::where(seen, rounded, ir::like(rounded, 0.0));
      blocks = ir::where(ir::expand(seen, shape, {repeated}), blocks, ir::like(blocks, 0.0));
    }
    return g_.make({Op::Reduce,
                    DType::F32,
                    ir::without(shape, {axis, axis + 1}),
                    {ir::expand(rounded, shape, {repeated}), blocks},
                    ir::ReduceAttr{Combine::Dot, {axis, axis + 1}, {.mma = true}}});
  }

 private:
  /// The value with weights and adjoints made of L and D; null if it is not made of those of one softmax and one or two
  /// products, or if it need not be 0 where the weight is.
  UOp without_row_sums(UOp value, int64_t cut_axis) {
    std::unordered_map<UOp, UOp> made;
    const auto enters = [](UOp n) { return ir::is_alu(n->op) && !is_softmax_weight(n) && !match_adjoint(n); };
    const std::vector<UOp> nodes = ir::topological(std::span<const UOp>(&value, 1), enters);
    for (UOp n : nodes) {
      const std::optional<SoftmaxAdjoint> adjoint = match_adjoint(n);
      const UOp weight = adjoint ? adjoint->weight : is_softmax_weight(n) ? n : UOp();
      if (!weight) continue;
      if (scores_ && !(scores_ == scores_of(weight))) return {};
      if (!scores_ && !find_row(weight)) return {};
      if (!adjoint) {
        made[n] = weight_;
        continue;
      }
      const UOp mean = mean_of(*adjoint);
      if (!mean) return {};
      has_adjoint_ = true;
      made[n] = weight_ * (adjoint->gradient - mean);
    }
    if (!scores_ || !vanishes_with_weight(value, made, cut_axis)) return {};
    for (UOp n : nodes) {
      if (made.contains(n)) continue;
      if (const auto mask = masks_.find(n); mask != masks_.end()) {
        made[n] = mask->second;
        continue;
      }
      std::vector<UOp> src;
      if (enters(n))
        for (UOp s : n->src) src.push_back(made.at(s));
      made[n] = src.empty() || src == n->src ? n : ir::with_sources(g_, n, src);
    }
    const int products = score_products_below(made.at(value));
    return products == 1 || products == 2 ? made.at(value) : UOp();
  }

  /// Whether a value is 0 where the weight is: there it is left out of the sum, behind the last element and in tiles
  /// that a mask hides. What it is multiplied with may not differ along the axis that is cut but for products and
  /// masks: padded with zeros, a divisor would give NaN. `made`: the weights and adjoints.
  bool vanishes_with_weight(UOp value, const std::unordered_map<UOp, UOp>& made, int64_t cut_axis) const {
    std::unordered_map<UOp, bool> zero;
    const auto enters = [&](UOp n) { return ir::is_alu(n->op) && !made.contains(n) && !masks_.contains(n); };
    for (UOp n : ir::topological(std::span<const UOp>(&value, 1), enters)) {
      if (!enters(n)) {
        const bool known = made.contains(n) || masks_.contains(n) || is_score_product(n);
        if (!known && !lacks(n, cut_axis)) return false;
        zero[n] = made.contains(n) || is_zero(n);
        continue;
      }
      const auto of = [&](size_t s) { return zero.at(n->src[s]); };
      switch (n->op) {
        case Op::Mul: zero[n] = of(0) || of(1); break;
        case Op::Div:
        case Op::Neg:
        case Op::Cast: zero[n] = of(0); break;
        case Op::Add:
        case Op::Sub: zero[n] = of(0) && of(1); break;
        case Op::Where: zero[n] = of(1) && of(2); break;
        default: zero[n] = false;
      }
    }
    return zero.at(value);
  }

  bool find_row(UOp weight) {
    const UOp x = scores_of(weight);
    const auto last = static_cast<int64_t>(x->rank()) - 1;
    if (!has_softmax_blocks(x) || weight->src[1]->ints() != ir::Ints{last}) return false;
    for (UOp n : ir::topological(std::span<const UOp>(&x, 1), [](UOp n) { return ir::is_alu(n->op); }))
      if (n->op == Op::Reduce && n->src[0]->shape[n->reduction().axes[0]].value() > kMaxPairedFeatures)
        return false;  // a sum of its factor would not fit
    scores_ = x;
    const SoftmaxBlocks blocks = softmax_in_blocks(g_, x);
    bounded_ = blocks.scores;
    for (UOp mine = x, other = bounded_; mine->op == Op::Where && !(mine == other);
         mine = mine->src[1], other = other->src[1])
      masks_[mine->src[0]] = other->src[0];
    weight_ = ir::exp(bounded_ - ir::expand(log_of_sum(blocks), x->shape, {last}));
    return true;
  }

  /// D, the sum over the keys of weights times their gradient g, of each row: of the features of the result times its
  /// gradient, if g is their product.
  UOp mean_of(const SoftmaxAdjoint& adjoint) {
    UOp product = adjoint.gradient;
    while (product->op == Op::Cast) product = product->src[0];
    if (!is_score_product(product)) return {};
    const UOp x = scores_of(adjoint.weight);
    const int64_t features = product->reduction().axes[0], last = static_cast<int64_t>(x->rank()) - 1;
    const int64_t keys = last + (last >= features);
    const UOp mul = product->src[0];
    for (size_t side : {0, 1}) {
      const UOp gradient = mul->src[side], values = mul->src[1 - side], narrow = narrow_source(values);
      if (!lacks(narrow_source(gradient), keys)) continue;
      const UOp weights = ir::cast(ir::cast(adjoint.weight, narrow->dtype), DType::F32);
      const UOp result =
          roll_weighted_sum(g_, ir::reduce(Combine::Add, ir::expand(weights, mul->shape, {features}) * values, {keys}));
      if (!result) return {};
      const UOp rounded = ir::cast(ir::cast(result, narrow->dtype), DType::F32);
      const UOp sum = ir::reduce(Combine::Add, without_axis(gradient, keys) * rounded, {features - (features > keys)});
      return ir::expand(sum, x->shape, {last});
    }
    return {};
  }

  /// What holds for tiles of rows, of each row.
  static UOp of_rows(UOp tiles, int64_t axis, const Dim& rows) {
    Shape each = in_blocks(tiles->shape, axis, 1), all = tiles->shape;
    each[static_cast<size_t>(axis) + 1] = kRowsTogether;
    all[axis] = tiles->shape[axis].value() * kRowsTogether;
    const UOp made = ir::reshape(ir::expand(tiles, each, {axis + 1}), all);
    ir::Region box = ir::full_region(all);
    box[axis] = {0, rows.value()};
    return all[axis] == rows ? made : ir::shrink(made, box);
  }

  /// The value in blocks along an axis. Weights of keys that do not exist are 0 but in rows without any key, which are
  /// NaN.
  UOp cut(UOp value, int64_t axis, int64_t size, int64_t block) {
    ScoresOfFactors scores(g_, axis, size, block);
    if (!(bounded_->shape[axis] == size)) scores.known[bounded_] = scores.made_of_scores(bounded_);
    return scores.made(value);
  }

  ir::Graph& g_;
  UOp scores_, bounded_;  ///< x, and x with its masks as bound_keys() makes them
  UOp weight_;            ///< exp(x - L)
  bool has_adjoint_ = false;
  std::unordered_map<UOp, UOp> masks_;
};

}  // namespace

UOp softmax_gradient(ir::Graph& g, UOp sum) {
  if (!is_reduce(sum, Combine::Add) || sum->src[0]->op != Op::Mul || sum->reduction().axes.size() != 1) return {};
  for (size_t side : {0, 1})
    if (const UOp made = GradientOfSum(g).of_factor(sum, side)) return made;
  return {};
}

}  // namespace sinter::schedule
