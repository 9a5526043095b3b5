// Quantiles: elements at two ranks, and a weighted mean of them.
#include <algorithm>
#include <cmath>

#include "sinter/sorting.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/sort.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

UOp rounded(UOp rank, Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::Lower: return alu(Op::Floor, {rank});
    case Interpolation::Higher: return -alu(Op::Floor, {-rank});
    case Interpolation::Nearest: return alu(Op::Round, {rank});
    default: return rank;
  }
}

/// a + (b - a) * weight, from the nearer end.
UOp weighted_mean(UOp a, UOp b, UOp weight) {
  UOp low = a + (b - a) * weight, high = b - (b - a) * (1.0 - weight);
  return where(lt(weight, like(weight, 0.5)), low, high);
}

/// The quantiles that are asked for, one axis, in the type of the computation; null for a number.
struct QuantileArgument {
  UOp list;
  double number = 0;
  bool scalar = true;  ///< the result has no axis of quantiles
};

QuantileArgument quantile_argument(const Arg& q, UOp x, DType type) {
  if (!q.is_tensor()) {
    if (!(q.real() >= 0 && q.real() <= 1))
      usage_error("q is {} for {}; give a number in 0 to 1", q.real(), describe(x));
    return {{}, q.real(), true};
  }
  UOp list = operand(q);
  if (list->rank() > 1 || !is_float(list->dtype))
    usage_error("q is {} for {}; give a float tensor of shape [] or [k]", describe(list), describe(x));
  const bool scalar = list->rank() == 0;
  list = cast(on_device(detach(list), x->device, x->shape), type);
  return {scalar ? reshape(list, {1}) : list, 0, scalar};
}

/// float64: per row, q * (number of elements - 1), or of those that are not NaN. The last axis is that of quantiles.
UOp ranks_of(const SortRows& rows, UOp q, UOp nan) {
  Shape shape = rows.x->shape;
  shape[shape.rank() - 1] = q->shape[0];
  UOp last = broadcast_to(constant(*rows.x->graph, DType::F64, static_cast<double>(rows.size - 1), q->device), {1});
  if (nan) last = maximum(like(nan, static_cast<double>(rows.size - 1)) - nan, like(nan, 0.0));
  return broadcast_to(cast(q, DType::F64), shape) * broadcast_to(cast(last, DType::F64), shape);
}

Tensor quantile_of(const char* name, const Arg& x, const Arg& q, std::optional<int64_t> axis, bool keepdim,
                   Interpolation interpolation, bool skips) {
  Call call(name, x.where());
  require_type(x.is_tensor() && is_float(operand(x)->dtype), x, "a float tensor");
  UOp given = operand(x), n = to_compute_type(given);
  const SortRows rows = axis ? rows_along(n, *axis) : all_in_one(n);
  if (rows.size == 0)
    usage_error("{} has 0 elements along axis {}, and 0 elements have no quantile; check the size first",
                describe(given), rows.axis);
  const DType type = n->dtype;
  const QuantileArgument asked = quantile_argument(q, given, type);
  const int64_t last = rows.last();
  UOp nan = insert_axis(sum(cast(is_nan(detach(rows.x)), DType::I64), {last}), last);
  UOp list = asked.list ? asked.list : reshape(constant(*n->graph, type, asked.number, n->device), {1});
  UOp rank = rounded(ranks_of(rows, list, skips ? nan : UOp()), interpolation);
  UOp low = cast(alu(Op::Floor, {rank}), DType::I64);
  UOp high = cast(-alu(Op::Floor, {-rank}), DType::I64);
  int64_t first = 0, count = rows.size;
  if (!asked.list && !skips) {  // two ranks that are known: the others need no order
    const double at = Scalar::of(type, asked.number).as_double() * static_cast<double>(rows.size - 1);
    first = std::clamp<int64_t>(std::llrint(std::floor(at)), 0, rows.size - 1);
    count = std::min<int64_t>(2, rows.size - first);
  }
  UOp at = sort_positions(rows.x, first, count, false);
  const auto value = [&](UOp r) {
    r = minimum(maximum(r - static_cast<double>(first), like(r, 0.0)), like(r, static_cast<double>(count - 1)));
    return gather(rows.x, gather(at, r, last), last);
  };
  UOp result = value(low);
  if (interpolation == Interpolation::Linear || interpolation == Interpolation::Midpoint) {
    UOp weight = interpolation == Interpolation::Midpoint ? like(rank, 0.5) : rank - cast(low, DType::F64);
    result = weighted_mean(result, value(high), cast(weight, type));
  }
  if (!skips) result = where(broadcast_to(lt(like(nan, 0.0), nan), result->shape), like(result, NAN), result);
  result = cast(result, given->dtype);
  const bool kept = keepdim && !rows.scalar;
  // The axis of quantiles comes first.
  result = move_axis(result, last, 0);
  if (kept && axis) result = insert_axis(result, rows.axis + 1);
  if (kept && !axis) {
    Shape ones{result->shape[0]};
    for (size_t i = 0; i < given->rank(); ++i) ones.push_back(1);
    result = reshape(result, ones);
  }
  if (rows.scalar) result = reshape(result, {result->shape[0]});
  return wrap(asked.scalar ? drop_axes(result, {0}) : result);
}

}  // namespace

Tensor quantile(Arg x, Arg q, std::optional<int64_t> axis, bool keepdim, Choice<Interpolation> interpolation) {
  return quantile_of("quantile", x, q, axis, keepdim, interpolation, false);
}
Tensor nanquantile(Arg x, Arg q, std::optional<int64_t> axis, bool keepdim, Choice<Interpolation> interpolation) {
  return quantile_of("nanquantile", x, q, axis, keepdim, interpolation, true);
}

}  // namespace sinter::inline v0
