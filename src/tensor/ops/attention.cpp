// Attention as plain products, a softmax and selects. The partition decides whether the scores are stored.
#include "sinter/attention.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sinter/ops.h"
#include "sinter/random.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/softmax.h"

namespace sinter {
inline namespace v0 {
namespace {

using ir::UOp;
using tensor::Call;
using tensor::describe;
using tensor::node_of;
using tensor::usage_error;
using tensor::wrap;

const Dim& dim_from_end(UOp x, size_t axis) { return x->shape[x->rank() - axis]; }

void check_shapes(UOp q, UOp k, UOp v) {
  for (UOp x : {q, k, v})
    if (x->rank() < 2) usage_error(fmt::format("{} has {} axes; give [..., length, size]", describe(x), x->rank()));
  if (!(dim_from_end(q, 1) == dim_from_end(k, 1)))
    usage_error(fmt::format("queries are {}, keys {}: sizes {} and {}; {}", describe(q), describe(k),
                            to_string(dim_from_end(q, 1)), to_string(dim_from_end(k, 1)),
                            tensor::mismatch_hint(dim_from_end(q, 1), dim_from_end(k, 1), "they must be equal")));
  if (!(dim_from_end(k, 2) == dim_from_end(v, 2)))
    usage_error(fmt::format("keys are {}, values {}: lengths {} and {}; {}", describe(k), describe(v),
                            to_string(dim_from_end(k, 2)), to_string(dim_from_end(v, 2)),
                            tensor::mismatch_hint(dim_from_end(k, 2), dim_from_end(v, 2), "they must be equal")));
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
    usage_error(fmt::format("the mask is {}; give bool (true takes part) or floats that are added to the scores",
                            describe(mask)));
  UOp pair[] = {ir::cast(mask, scores->dtype), scores};
  tensor::broadcast(pair);
  return pair[1] + pair[0];
}

}  // namespace

Tensor scaled_dot_product_attention(Arg query, const Tensor& k, const Tensor& v, const AttentionOptions& o) {
  Call call("scaled_dot_product_attention", query.where());
  const Arg key(k, query.where()), value(v, query.where());
  const DType t = tensor::common_float_type({&query, &key, &value});
  UOp q = tensor::operand(query, t);
  const Tensor keys = wrap(tensor::operand(key, t)), values = wrap(tensor::operand(value, t));
  check_shapes(q, node_of(keys), node_of(values));
  if (!(o.dropout >= 0 && o.dropout < 1))
    usage_error(fmt::format("dropout is {}; a probability in [0, 1) is needed", o.dropout));
  q = ir::to_compute_type(q);  // and so is everything that is multiplied with it
  const Dim& size = dim_from_end(q, 1);
  const Tensor scores = matmul(wrap(q), keys.transpose());
  UOp s =
      node_of(o.scale           ? scores * *o.scale
              : size.symbolic() ? scores / sqrt(wrap(tensor::size_node(size, q->dtype, q->device)))
                                : scores * (1 / std::sqrt(static_cast<double>(std::max<int64_t>(size.value(), 1)))));
  if (o.causal) {
    const Shape plane{dim_from_end(s, 2), dim_from_end(s, 1)};
    s = mask_unseen(s, ir::le(tensor::position(plane, 1, s->device), tensor::position(plane, 0, s->device)));
  }
  if (o.mask.defined()) s = apply_mask(s, node_of(o.mask));
  Tensor weights = wrap(tensor::softmax(s, static_cast<int64_t>(s->rank()) - 1));
  if (o.dropout > 0)
    weights = where(bernoulli(o.dropout, weights.shape(), {.device = weights.device()}), 0.0,
                    weights * (1.0 / (1.0 - o.dropout)));
  return matmul(weights.to(t), values);  // one type for both factors: on a GPU tensor cores compute it
}

Tensor rotary_embedding(Arg input, const RotaryOptions& o) {
  Call call("rotary_embedding", input.where());
  UOp given = tensor::float_operand(input), x = ir::to_compute_type(given);
  if (x->rank() < 2)
    usage_error(fmt::format("{} has {} axes; give [..., positions, size]", describe(given), x->rank()));
  const int64_t last = static_cast<int64_t>(x->rank()) - 1, size = tensor::fixed_size(given, last, "rotated");
  if (size % 2)
    usage_error(fmt::format("the last axis of {} has the odd size {}; pairs are rotated", describe(given), size));
  if (!(o.base > 0 && std::isfinite(o.base)))
    usage_error(fmt::format("base is {}; angles need a finite number above 0", o.base));
  const int64_t half = size / 2;

  // Angles [positions, half], in the compute dtype.
  const Shape plane{dim_from_end(x, 2), half};
  UOp place = ir::cast(tensor::position(plane, 0, x->device), x->dtype) + static_cast<double>(o.offset);
  UOp pair = ir::cast(tensor::position(plane, 1, x->device), x->dtype);
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
  UOp sine = wave(ir::Op::Sin), number = tensor::position(paired, twos, x->device);
  sine = ir::where(ir::eq(number, ir::like(number, 0.0)), -sine, sine);
  UOp y = ir::reshape(pairs * wave(ir::Op::Cos) + ir::flip(pairs, {twos}) * sine, x->shape);
  return wrap(ir::cast(y, given->dtype));
}

}  // namespace v0
}  // namespace sinter
