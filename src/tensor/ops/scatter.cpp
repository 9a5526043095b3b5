// scatter and its kin: a tensor with elements set, or joined with updates, at places that integer tensors name.
#include <fmt/core.h>

#include "ir/combine.h"
#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/index.h"
#include "tensor/ops/masked.h"
#include "tensor/ops/pick.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// The operands of a scatter along one axis: base and value in one type; index and value of one shape, which is no
/// larger than base's along the other axes.
struct ScatterOperands {
  UOp base, index, value;
  int64_t axis = 0;
  DType dtype = DType::Void;  ///< of the result
};

/// What both forms of them share: all but the value.
ScatterOperands operands_along(const Arg& base, int64_t axis, const Tensor& index, const Arg& value) {
  ScatterOperands out;
  out.dtype = common_type({&base, &value});
  out.base = operand(base, out.dtype);
  out.index = index_operand(node_of(index));
  out.axis = axis_of(out.base, axis);
  unify_devices(out.base, out.index);
  return out;
}

ScatterOperands scatter_operands(const Arg& base, int64_t axis, const Tensor& index, const Arg& value) {
  ScatterOperands out = operands_along(base, axis, index, value);
  require_same_rank(out.base, out.index);
  const Shape &whole = out.base->shape, &part = out.index->shape;
  for (size_t a = 0; a < whole.rank(); ++a) {
    if (static_cast<int64_t>(a) == out.axis || whole[a] == part[a]) continue;
    if (whole[a].symbolic() || part[a].symbolic() || part[a].value() > whole[a].value())
      usage_error("the index {} is larger than {} in axis {}; {}", to_string(part), to_string(whole), a,
                  mismatch_hint(part[a], whole[a], fmt::format("only along axis {} it may be", out.axis)));
  }
  const UOp v = on_device(operand(value, out.dtype), out.base->device, whole);
  if (value.is_tensor() && v->rank() > 0 && !(v->shape == part))
    usage_error("the value is {} and the index {}; {}", describe(v), to_string(part),
                mismatch_hint(v->shape, part, "they need one shape, use expand"));
  out.value = broadcast_to(v, part);
  return out;
}

/// The part of x that an index of that shape reaches.
UOp reached(UOp x, const Shape& index, int64_t axis) {
  for (size_t a = 0; a < x->rank(); ++a)
    if (static_cast<int64_t>(a) != axis && !(x->shape[a] == index[a]))
      x = tensor::shrink_axis(x, static_cast<int64_t>(a), 0, index[a].value());
  return x;
}

/// x with `part`, which is reached() of it after an update.
UOp with_reached(UOp x, UOp part) {
  if (x->shape == part->shape) return part;
  const Region box = full_region(part->shape);
  return where(pad(true_like(part), box, x->shape), pad(part, box, x->shape), x);
}

Tensor scattered(const ScatterOperands& of, ScatterMode mode) {
  const UOp part = reached(of.base, of.index->shape, of.axis);
  return wrap(with_reached(of.base, scatter(part, of.index, of.value, of.axis, mode)));
}

/// base, in which the first update of an element counts alone: the element becomes what changes no update.
UOp without_itself(UOp base, UOp index, int64_t axis, ScatterReduce reduce) {
  const Combine combine = reduce == ScatterReduce::Prod   ? Combine::Mul
                          : reduce == ScatterReduce::Amax ? Combine::Max
                          : reduce == ScatterReduce::Amin ? Combine::Min
                                                          : Combine::Add;
  const UOp none = constant(*base->graph, reduction_identity(combine, base->dtype), base->dtype, base->device);
  return scatter(base, index, broadcast_to(none, index->shape), axis, ScatterMode::Set);
}

/// sums / count, rounded down for integers. `first`: what an element counts by itself, 0 or 1.
UOp mean_of(UOp sums, UOp index, int64_t axis, double first) {
  const DType counts = is_float(sums->dtype) || sums->dtype == DType::U64 ? sums->dtype : DType::I64;
  const UOp one = like(cast(index, counts), 1.0), start = like(cast(sums, counts), first);
  const UOp least = like(start, 1.0), count = maximum(scatter_add(start, index, one, axis), least);
  if (is_float(counts)) return sums / count;
  return cast(alu(Op::IDiv, {cast(sums, counts), count}), sums->dtype);
}

/// The base with its elements joined with their updates. Computed in the compute type and rounded once.
Tensor joined(ScatterOperands of, const Arg& base, ScatterReduce reduce, bool include_self) {
  if (reduce == ScatterReduce::Mean) require_type(!is_bool(of.dtype), base, "integers or floats for a mean");
  of.value = to_compute_type(of.value);
  UOp part = to_compute_type(reached(of.base, of.index->shape, of.axis));
  if (!include_self) part = without_itself(part, of.index, of.axis, reduce);
  constexpr ScatterMode kModes[] = {ScatterMode::Add, ScatterMode::Mul, ScatterMode::Add, ScatterMode::Max,
                                    ScatterMode::Min};
  part = scatter(part, of.index, of.value, of.axis, kModes[static_cast<size_t>(reduce)]);
  if (reduce == ScatterReduce::Mean) part = mean_of(part, of.index, of.axis, include_self);
  return wrap(with_reached(of.base, cast(part, of.dtype)));
}

/// The axis, index and slices of index_add and its kin: x with one slice of `source` for each element of the 1-D index.
ScatterOperands slices_operands(const Arg& x, int64_t axis, const Tensor& index, const Arg& source) {
  ScatterOperands out = operands_along(x, axis, index, source);
  if (out.index->rank() > 1)
    usage_error("the index {} has {} axes and must have 1; use index_put or scatter", describe(out.index),
                out.index->rank());
  if (out.index->rank() == 0) out.index = reshape(out.index, {1});
  Shape rows = out.base->shape;
  rows[out.axis] = out.index->shape[0];
  check_shape(rows);
  const UOp v = on_device(operand(source, out.dtype), out.base->device, out.base->shape);
  if (v->rank() > 0 && !(v->shape == rows))
    usage_error("the source is {} and {} of the index {} on {} along axis {}; {}", describe(v), to_string(rows),
                to_string(out.index->shape), describe(out.base), out.axis,
                mismatch_hint(v->shape, rows, "they need one shape, use expand"));
  out.value = broadcast_to(v, rows);
  Ints others;
  for (int64_t a = 0; a < static_cast<int64_t>(rows.rank()); ++a)
    if (a != out.axis) others.push_back(a);
  out.index = expand(out.index, rows, others);
  return out;
}

}  // namespace

Tensor scatter_add(Arg base, int64_t axis, const Tensor& index, Arg value) {
  const Call call("scatter_add", base.where());
  return scattered(scatter_operands(base, axis, index, value), ScatterMode::Add);
}

Tensor scatter(Arg base, int64_t axis, const Tensor& index, Arg value) {
  const Call call("scatter", base.where());
  return scattered(scatter_operands(base, axis, index, value), ScatterMode::Set);
}

Tensor scatter_reduce(Arg base, int64_t axis, const Tensor& index, Arg value, Choice<ScatterReduce> reduce,
                      bool include_self) {
  const Call call("scatter_reduce", base.where());
  return joined(scatter_operands(base, axis, index, value), base, reduce, include_self);
}

Tensor put_along_axis(Arg x, const Tensor& index, Arg value, int64_t axis) {
  const Call call("put_along_axis", x.where());
  const DType t = common_type({&x, &value});
  UOp n = operand(x, t), i = index_operand(node_of(index));
  axis = axis_of(n, axis);
  unify_devices(n, i);
  require_same_rank(n, i);
  const auto a = static_cast<size_t>(axis);
  Shape rows = n->shape;
  rows[a] = i->shape[a];
  check_shape(rows);
  for (size_t d = 0; d < rows.rank(); ++d)
    if (d != a && !(i->shape[d] == rows[d]) && !(i->shape[d] == 1))
      usage_error("the index {} does not broadcast to {} in axis {}; {}", to_string(i->shape), to_string(n->shape), d,
                  mismatch_hint(i->shape[d], rows[d], "give that size, or 1"));
  const UOp v = broadcast_to_part(operand(value, t), n, rows);
  return wrap(scatter(n, broadcast_to(i, rows), v, axis, ScatterMode::Set));
}

Tensor put(Arg x, const Tensor& index, Arg source, bool accumulate) {
  const Call call("put", x.where());
  const Tensor base = wrap(operand(x)), places = wrap(index_operand(node_of(index))).reshape({-1});
  if (source.is_tensor() && operand(source)->rank() > 0) {
    const UOp s = operand(source);
    if (!(wrap(s).reshape({-1}).shape() == places.shape()))
      usage_error("the source is {} and the index {}; give one element for each", describe(s),
                  describe(node_of(index)));
    source = Arg(wrap(s).reshape({-1}), x.where());
  }
  const Tensor made = (accumulate ? scatter_add : scatter)(base.reshape({-1}), 0, places, source);
  return made.reshape(base.shape());
}

Tensor index_add(Arg x, int64_t axis, const Tensor& index, Arg source, Arg alpha) {
  const Call call("index_add", x.where());
  if (alpha.is_tensor())
    usage_error("alpha is {} and must be a number; multiply the source {} by it", describe(alpha), describe(source));
  ScatterOperands of = slices_operands(x, axis, index, source);
  UOp value = to_compute_type(of.value);
  const Scalar factor = number_of(alpha, value->dtype);
  if (!(factor == Scalar::of(value->dtype, 1))) value = value * like(value, factor);
  const UOp sums = scatter_add(to_compute_type(of.base), of.index, value, of.axis);
  return wrap(cast(sums, of.dtype));
}

Tensor index_reduce(Arg x, int64_t axis, const Tensor& index, Arg source, Choice<ScatterReduce> reduce,
                    bool include_self) {
  const Call call("index_reduce", x.where());
  return joined(slices_operands(x, axis, index, source), x, reduce, include_self);
}

Tensor index_copy(Arg x, int64_t axis, const Tensor& index, Arg source) {
  const Call call("index_copy", x.where());
  return scattered(slices_operands(x, axis, index, source), ScatterMode::Set);
}

Tensor index_fill(Arg x, int64_t axis, const Tensor& index, Arg value) {
  const Call call("index_fill", x.where());
  if (value.is_tensor() && operand(value)->rank() > 0)
    usage_error("the value is {} and {} is filled with one number; use index_copy", describe(value), describe(x));
  return scattered(slices_operands(x, axis, index, value), ScatterMode::Set);
}

Tensor index_put(Arg x, const std::vector<Tensor>& indices, Arg value, bool accumulate) {
  const OuterCall outer("index_put", x.where());
  const Tensor base = [&] {
    const Call call("index_put", x.where());
    return wrap(operand(x, common_type({&x, &value})));
  }();
  const Shape shape = base.shape();
  UnmaskedIndex to{shape, {indices.begin(), indices.end()}};
  if (has_mask(to.items)) to = unmask(base, to.items);
  const Call call("index_put", x.where());
  if (indices.empty())
    usage_error("no index for {}; give one tensor for each of the first axes", describe(node_of(base)));
  const UOp n = reshape(node_of(base), to.shape);
  const AdvancedIndex at = resolve_advanced(n, to.items);
  const UOp v = broadcast_to_part(operand(value, n->dtype), n, picked_shape(n, at.axes, at.index, at.place));
  const ScatterMode mode = accumulate ? ScatterMode::Add : ScatterMode::Set;
  return wrap(reshape(tensor::put(n, at.axes, at.index, at.place, v, mode), shape));
}

}  // namespace sinter::inline v0
