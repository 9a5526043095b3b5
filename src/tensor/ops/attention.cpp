// Attention as plain products, a softmax and selects. The partition decides whether the scores are stored.
#include "sinter/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sinter/ops.h"
#include "sinter/random.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/softmax.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

constexpr int64_t kFewQueries = 8, kManyKeys = 256;

const Dim& dim_from_end(UOp x, size_t axis) { return x->shape[x->rank() - axis]; }

void check_queries(UOp q, UOp k) {
  for (UOp x : {q, k})
    if (x->rank() < 2) usage_error("{} has {} axes; give [..., length, size]", describe(x), x->rank());
  if (!(dim_from_end(q, 1) == dim_from_end(k, 1)))
    usage_error("queries are {}, keys {}: sizes {} and {}; {}", describe(q), describe(k), to_string(dim_from_end(q, 1)),
                to_string(dim_from_end(k, 1)),
                mismatch_hint(dim_from_end(q, 1), dim_from_end(k, 1), "they must be equal"));
}
void check_values(UOp k, UOp v) {
  if (v->rank() < 2) usage_error("{} has {} axes; give [..., length, size]", describe(v), v->rank());
  if (!(dim_from_end(k, 2) == dim_from_end(v, 2)))
    usage_error("keys are {}, values {}: lengths {} and {}; {}", describe(k), describe(v),
                to_string(dim_from_end(k, 2)), to_string(dim_from_end(v, 2)),
                mismatch_hint(dim_from_end(k, 2), dim_from_end(v, 2), "they must be equal"));
}

/// Keys or values whose heads are as many as q's: each stands for so many after it.
UOp heads_shared(UOp x, UOp q) {
  if (x->rank() < 3 || q->rank() < 3)
    usage_error("queries are {}, keys or values {}; with enable_gqa give [..., heads, length, size]", describe(q),
                describe(x));
  const int64_t axis = static_cast<int64_t>(x->rank()) - 3, heads = fixed_size(x, axis, "shared"),
                wanted = fixed_size(q, static_cast<int64_t>(q->rank()) - 3, "shared");
  if (heads == wanted) return x;
  if (heads == 0 || wanted % heads)
    usage_error("{} heads of queries cannot share {} heads of keys or values; give a multiple", wanted, heads);
  Shape::Dims dims = x->shape.dims();
  dims.insert(dims.begin() + axis + 1, Dim(wanted / heads));
  const UOp spread = ir::broadcast_to(x, Shape(dims), {axis + 1});
  dims.erase(dims.begin() + axis);
  dims[static_cast<size_t>(axis)] = wanted;
  return ir::reshape(spread, Shape(dims));
}

/// The scores where `seen` is true, minus infinity elsewhere.
UOp mask_unseen(UOp scores, UOp seen) {
  UOp pair[] = {seen, scores};
  tensor::broadcast(pair);
  return ir::where(pair[0], pair[1], ir::like(pair[1], -std::numeric_limits<double>::infinity()));
}

UOp apply_mask(UOp scores, UOp mask) {
  if (is_bool(mask->dtype)) return mask_unseen(scores, mask);
  if (!is_float(mask->dtype))
    usage_error("the mask is {}; give bool (true takes part) or floats that are added to the scores", describe(mask));
  UOp pair[] = {ir::cast(mask, scores->dtype), scores};
  tensor::broadcast(pair);
  return pair[1] + pair[0];
}

/// A mask [keys] or [n, keys], whose true elements take no part, as one for the scores.
UOp mask_of_padding(UOp scores, UOp padding) {
  if (padding->rank() != 1 && padding->rank() != 2)
    usage_error("key_padding_mask is {}; give [keys] or [n, keys]", describe(padding));
  if (padding->rank() == 2 && scores->rank() < 3)
    usage_error("key_padding_mask is {} for scores {} without a first axis; give [keys]", describe(padding),
                describe(scores));
  const Shape::Dims given = padding->shape.dims();
  Shape::Dims dims(scores->rank(), Dim(1));
  dims.back() = given.back();
  if (given.size() == 2) dims.front() = given.front();
  const UOp placed = ir::reshape(padding, Shape(dims));
  return is_bool(placed->dtype) ? node_of(logical_not(wrap(placed))) : placed;
}

/// Positions of queries, counted so that the last one is that of the last key.
UOp aligned_at_end(UOp positions, UOp scores) {
  const Dim &queries = dim_from_end(scores, 2), &keys = dim_from_end(scores, 1);
  if (!queries.symbolic() && !keys.symbolic()) return positions + static_cast<double>(keys.value() - queries.value());
  const auto size = [&](const Dim& d) { return wrap(size_node(d, positions->dtype, positions->device)); };
  return node_of(wrap(positions) + (size(keys) - size(queries)));
}

/// softmax of the scores of q with k. Both are in the common type; the result in the type that q computes in.
Tensor weights_of(UOp q, const Tensor& keys, const AttentionOptions& o) {
  check_queries(q, node_of(keys));
  if (!(o.dropout_p >= 0 && o.dropout_p < 1))
    usage_error("dropout_p is {}; a probability in [0, 1) is needed", o.dropout_p);
  q = ir::to_compute_type(q);  // and so is everything that is multiplied with it
  const Dim& size = dim_from_end(q, 1);
  const Tensor scores = matmul(wrap(q), keys.transpose());
  UOp s =
      node_of(o.scale           ? scores * *o.scale
              : size.symbolic() ? scores / sqrt(wrap(size_node(size, q->dtype, q->device)))
                                : scores * (1 / std::sqrt(static_cast<double>(std::max<int64_t>(size.value(), 1)))));
  if (o.is_causal) {
    const Shape plane{dim_from_end(s, 2), dim_from_end(s, 1)};
    UOp query = position(plane, 0, s->device);
    if (o.lower_right) query = aligned_at_end(query, s);
    s = mask_unseen(s, ir::le(position(plane, 1, s->device), query));
  }
  if (o.attn_mask.defined()) s = apply_mask(s, node_of(o.attn_mask));
  if (o.key_padding_mask.defined()) s = apply_mask(s, mask_of_padding(s, node_of(o.key_padding_mask)));
  Tensor weights = wrap(tensor::softmax(s, static_cast<int64_t>(s->rank()) - 1));
  if (o.dropout_p > 0)
    weights = where(bernoulli(o.dropout_p, weights.shape(), {.device = weights.device()}), 0.0,
                    weights * (1.0 / (1.0 - o.dropout_p)));
  return weights;
}

}  // namespace

Tensor scaled_dot_product_attention(Arg query, const Tensor& k, const Tensor& v, const AttentionOptions& o) {
  Call call("scaled_dot_product_attention", query.where());
  const Arg key(k, query.where()), value(v, query.where());
  const DType t = common_float_type({&query, &key, &value});
  const UOp q = operand(query, t);
  UOp keys = operand(key, t), values = operand(value, t);
  if (o.enable_gqa) keys = heads_shared(keys, q), values = heads_shared(values, q);
  check_queries(q, keys);
  check_values(keys, values);
  const Tensor weights = weights_of(q, wrap(keys), o).to(t);  // one type: on a GPU tensor cores compute the product
  // A step of decoding reads all keys and values for a few sums: two products that go at the speed of memory, each in
  // the order in which it lies.
  const Dim &queries = dim_from_end(q, 2), &length = dim_from_end(keys, 2);
  if (queries.symbolic() || queries.value() > kFewQueries || length.bound() < kManyKeys)
    return matmul(weights, wrap(values));
  return matmul(weights.contiguous(), wrap(values)).contiguous();
}

Tensor attention_weights(Arg query, const Tensor& k, const AttentionOptions& o) {
  Call call("attention_weights", query.where());
  const Arg key(k, query.where());
  const DType t = common_float_type({&query, &key});
  const UOp q = operand(query, t);
  UOp keys = operand(key, t);
  if (o.enable_gqa) keys = heads_shared(keys, q);
  return weights_of(q, wrap(keys), o).to(t);
}

namespace {

/// `places`: the positions [positions], or what broadcasts to x's axes but the last; null: 0, 1, ...
Tensor rotated(UOp given, UOp places, const RotaryOptions& o) {
  UOp x = ir::to_compute_type(given);
  if (x->rank() < 2) usage_error("{} has {} axes; give [..., positions, size]", describe(given), x->rank());
  const int64_t last = static_cast<int64_t>(x->rank()) - 1, size = fixed_size(given, last, "rotated");
  if (size % 2) usage_error("the last axis of {} has the odd size {}; pairs are rotated", describe(given), size);
  if (!(o.base > 0 && std::isfinite(o.base))) usage_error("base is {}; angles need a finite number above 0", o.base);
  const int64_t half = size / 2;

  // Angles [..., positions, half], in the compute dtype.
  Shape plane{dim_from_end(x, 2), half};
  if (places) {
    Shape::Dims dims = x->shape.dims();
    dims.back() = half;
    plane = Shape(dims);
    Shape::Dims column = places->shape.dims();
    column.push_back(Dim(1));
    places = node_of(wrap(ir::reshape(places, Shape(column))).expand(plane));
  } else {
    places = position(plane, 0, x->device);
  }
  UOp place = ir::cast(places, x->dtype) + static_cast<double>(o.offset);
  UOp pair = ir::cast(position(plane, static_cast<int64_t>(plane.rank()) - 1, x->device), x->dtype);
  UOp angle = place * ir::exp(pair * (-2.0 * std::log(o.base) / static_cast<double>(size)));

  // The two elements of a pair get an axis of their own: after the axis of pairs if interleaved, before it otherwise.
  const int64_t twos = o.interleaved ? last + 1 : last;
  Shape::Dims dims = x->shape.dims();
  dims.back() = half;
  dims.insert(dims.begin() + twos, Dim(2));
  const Shape paired(dims);
  UOp pairs = ir::reshape(x, paired);
  auto wave = [&](ir::Op op) { return ir::broadcast_to(ir::alu(op, {angle}), paired, {twos}); };
  // (a, b) becomes (a cos - b sin, b cos + a sin).
  UOp sine = wave(ir::Op::Sin), number = position(paired, twos, x->device);
  sine = ir::where(ir::eq(number, ir::like(number, 0.0)), -sine, sine);
  UOp y = ir::reshape(pairs * wave(ir::Op::Cos) + ir::flip(pairs, {twos}) * sine, x->shape);
  return wrap(ir::cast(y, given->dtype));
}

}  // namespace

Tensor rotary_embedding(Arg x, const RotaryOptions& o) {
  Call call("rotary_embedding", x.where());
  return rotated(float_operand(x), nullptr, o);
}

Tensor rotary_embedding(Arg x, const Tensor& positions, const RotaryOptions& o) {
  Call call("rotary_embedding", x.where());
  const UOp given = float_operand(x), places = node_of(positions);
  if (is_float(places->dtype) || is_bool(places->dtype))
    usage_error("the positions are {}; give whole numbers", describe(places));
  return rotated(given, places, o);
}

}  // namespace sinter::inline v0
