// Products of tensors along chosen axes, as those of matrices in matmul.cpp.
#include <algorithm>

#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/reduce.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// The axes of x that are not among `summed`.
Ints free_axes(UOp x, Ints summed) {
  std::ranges::sort(summed);
  return others(x->rank(), summed);
}

/// sum(x * y) over axes[i] of x and their equals of y, in the type `t`. The result has the other axes of x, then those
/// of y.
UOp contract_axes(UOp x, const Ints& of_x, UOp y, const Ints& of_y, DType t) {
  Ints order_x = free_axes(x, of_x), order_y = free_axes(y, of_y);
  const auto free_x = static_cast<int64_t>(order_x.size()), free_y = static_cast<int64_t>(order_y.size());
  Shape shape;
  for (int64_t a : order_x) shape.push_back(x->shape[a]);
  for (int64_t a : order_y) shape.push_back(y->shape[a]);
  Ints lacked_x, lacked_y, summed;
  for (int64_t i = 0; i < free_y; ++i) lacked_x.push_back(free_x + i);
  for (int64_t i = 0; i < free_x; ++i) lacked_y.push_back(i);
  for (size_t i = 0; i < of_x.size(); ++i) {
    summed.push_back(static_cast<int64_t>(shape.rank()));
    shape.push_back(x->shape[of_x[i]]);
    order_x.push_back(of_x[i]);
    order_y.push_back(of_y[i]);
  }
  check_shape(shape);
  as_factors(x, y);
  x = expand(permute(x, order_x), shape, lacked_x);
  y = expand(permute(y, order_y), shape, lacked_y);
  UOp products = x * y;
  return cast(summed.empty() ? products : reduce(addition_of(products->dtype), products, summed), t);
}

/// The axes of x as given, counted from 0. UsageError if one is given twice.
Ints axes_in_order(UOp x, const std::vector<int64_t>& axes) {
  axes_of(x, axes);
  return mapped<Ints>(axes, [&](int64_t a) { return axis_of(x, a); });
}

UOp contract_checked(UOp x, const Ints& of_x, UOp y, const Ints& of_y, DType t) {
  for (size_t i = 0; i < of_x.size(); ++i) {
    const Dim &a = x->shape[of_x[i]], &b = y->shape[of_y[i]];
    if (!(a == b))
      usage_error("axis {} of {} and axis {} of {} differ, {} against {}; {}", of_x[i], describe(x), of_y[i],
                  describe(y), to_string(a), to_string(b),
                  mismatch_hint(a, b, "axes that are summed together have one size"));
  }
  return contract_axes(x, of_x, y, of_y, t);
}

/// Both in their common type, on one device.
struct Factors {
  UOp x, y;
  DType type;
};
Factors factors(const Arg& a, const Arg& b) {
  const DType t = common_type({&a, &b});
  UOp x = operand(a, t), y = operand(b, t);
  unify_devices(x, y);
  return {x, y, t};
}

}  // namespace

Tensor vecdot(Arg a, Arg b, int64_t axis) {
  Call call("vecdot", a.where());
  const DType t = common_type({&a, &b});
  const std::vector<UOp> n = operands({&a, &b}, t);
  axis = axis_of(n[0], axis);
  UOp products = to_compute_type(n[0]) * to_compute_type(n[1]);
  return wrap(cast(reduce(addition_of(products->dtype), products, {axis}), t));
}

Tensor inner(Arg a, Arg b) {
  Call call("inner", a.where());
  const auto [x, y, t] = factors(a, b);
  if (!x->rank() || !y->rank()) return a * b;
  return wrap(contract_checked(x, {static_cast<int64_t>(x->rank()) - 1}, y, {static_cast<int64_t>(y->rank()) - 1}, t));
}

Tensor outer(Arg a, Arg b) {
  Call call("outer", a.where());
  const auto [x, y, t] = factors(a, b);
  if (x->rank() != 1 || y->rank() != 1)
    usage_error("{} and {}: both must be vectors; tensordot(a, b, 0) takes other ranks", describe(x), describe(y));
  return wrap(contract_axes(x, {}, y, {}, t));
}

Tensor tensordot(Arg a, Arg b, int64_t count) {
  Call call("tensordot", a.where());
  const auto [x, y, t] = factors(a, b);
  if (count < 0 || count > static_cast<int64_t>(std::min(x->rank(), y->rank())))
    usage_error("{} axes of {} and {}; give 0 to {}", count, describe(x), describe(y), std::min(x->rank(), y->rank()));
  Ints of_x, of_y;
  for (int64_t i = 0; i < count; ++i) {
    of_x.push_back(static_cast<int64_t>(x->rank()) - count + i);
    of_y.push_back(i);
  }
  return wrap(contract_checked(x, of_x, y, of_y, t));
}

Tensor tensordot(Arg a, Arg b, const std::vector<int64_t>& axes_a, const std::vector<int64_t>& axes_b) {
  Call call("tensordot", a.where());
  const auto [x, y, t] = factors(a, b);
  if (axes_a.size() != axes_b.size())
    usage_error("{} axes of {} and {} of {}; give as many of each", axes_a.size(), describe(x), axes_b.size(),
                describe(y));
  return wrap(contract_checked(x, axes_in_order(x, axes_a), y, axes_in_order(y, axes_b), t));
}

Tensor cross(Arg a, Arg b, int64_t axis) {
  Call call("cross", a.where());
  const DType t = common_type({&a, &b});
  if (is_bool(t)) usage_error("has no meaning on {} and {}; convert one with to(int64)", describe(a), describe(b));
  std::vector<UOp> n = operands({&a, &b}, t);
  axis = axis_of(n[0], axis);
  const Dim size = n[0]->shape[axis];
  if (!(size == 3))
    usage_error("{} x {} have {} elements along axis {} and must have {}", describe(a), describe(b), to_string(size),
                axis, 3);
  const auto part = [&](UOp x, int64_t i) { return to_compute_type(tensor::shrink_axis(x, axis, i, i + 1)); };
  std::vector<UOp> parts;
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t j = (i + 1) % 3, k = (i + 2) % 3;
    parts.push_back(cast(part(n[0], j) * part(n[1], k) - part(n[0], k) * part(n[1], j), t));
  }
  return wrap(cat(parts, axis));
}

Tensor kron(Arg a, Arg b) {
  Call call("kron", a.where());
  const auto [x, y, t] = factors(a, b);
  const size_t rank = std::max(x->rank(), y->rank());
  // Axis i of the result is axis i of a times axis i of b.
  Shape pairs, joined;
  Ints lacked_x, lacked_y;
  for (size_t i = 0; i < rank; ++i) {
    const auto size_of_axis = [&](UOp n) {
      const size_t lead = rank - n->rank();
      return i < lead ? 1 : fixed_size(n, static_cast<int64_t>(i - lead), "multiplied");
    };
    const Shape both{size_of_axis(x), size_of_axis(y)};
    check_shape(both);
    pairs.push_back(both[0]), pairs.push_back(both[1]);
    joined.push_back(both.numel());
    const auto at = static_cast<int64_t>(2 * i);
    if (i < rank - x->rank()) lacked_x.push_back(at);
    lacked_x.push_back(at + 1);
    lacked_y.push_back(at);
    if (i < rank - y->rank()) lacked_y.push_back(at + 1);
  }
  check_shape(joined);
  return wrap(reshape(expand(x, pairs, lacked_x) * expand(y, pairs, lacked_y), joined));
}

}  // namespace sinter::inline v0
