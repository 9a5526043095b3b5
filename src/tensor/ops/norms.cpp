// Norms of vectors and matrices, and the distances that are norms of differences. Definitions and gradients at 0 are
// those of PyTorch's linalg.vector_norm, linalg.matrix_norm, cdist and pdist.
#include <algorithm>
#include <cmath>

#include "sinter/create.h"
#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/reduce.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// The largest or the smallest of norms along an axis. The largest of none is 0.
UOp extreme_norm(UOp norms, bool largest, int64_t axis) {
  if (largest && norms->shape[axis] == 0) return sum(norms, {axis});
  require_elements(norms, {axis});
  return reduce(largest ? Combine::Max : Combine::Min, norms, {axis});
}

Tensor wrap_norm(UOp norm, const Ints& axes, bool keepdim, DType type) {
  return wrap(cast(keepdim ? insert_axes(norm, axes) : norm, type));
}

Tensor norm_of(std::string_view name, const Arg& x, double p, const Axes& axes, bool keepdim, DType dtype) {
  Call call(name, x.where());
  UOp n = float_operand(x, dtype);
  const Ints list = axes_of(n, axes);
  return wrap_norm(norm_over(to_compute_type(n), p, list), list, keepdim, n->dtype);
}

/// {rows, columns} counted from 0.
std::pair<int64_t, int64_t> matrix_axes(UOp x, std::pair<int64_t, int64_t> axes) {
  if (x->rank() < 2) usage_error("{} has {} axes and needs at least 2, those of a matrix", describe(x), x->rank());
  axes_of(x, {axes.first, axes.second});
  return {axis_of(x, axes.first), axis_of(x, axes.second)};
}

/// Of matrices along any two axes, behind the other axes.
UOp singular_values(UOp x, int64_t rows, int64_t columns) {
  Ints order = others(x->rank(), {std::min(rows, columns), std::max(rows, columns)});
  order.push_back(rows);
  order.push_back(columns);
  return node_of(svdvals(wrap(permute(to_compute_type(x), order))));
}

/// The larger of the norm and eps.
UOp at_least(UOp norm, double eps) {
  UOp least = like(norm, eps);
  return where(lt(norm, least), least, norm);
}

/// Both in the type in which their common type is computed, broadcast.
std::vector<UOp> broadcast_floats(const Arg& a, const Arg& b, DType type) {
  std::vector<UOp> n = operands({&a, &b}, type);
  for (UOp& x : n) x = to_compute_type(x);
  return n;
}

/// The distances of all rows of x to all rows of y, which have as many columns.
UOp distances(UOp x, UOp y, double p) {
  if (!(p >= 0)) usage_error("the order {} of distances between rows of {}; give 0 or more", p, describe(x));
  UOp nodes[] = {insert_axis(x, static_cast<int64_t>(x->rank()) - 1),
                 insert_axis(y, static_cast<int64_t>(y->rank()) - 2)};
  tensor::broadcast(nodes);
  UOp off = nodes[0] - nodes[1];
  const auto last = static_cast<int64_t>(off->rank()) - 1;
  return norm_over(off, std::isinf(p) && off->shape[last] == 0 ? 1 : p, {last});
}

/// The axes of the matrix whose norm is meant; none for a vector's.
std::optional<std::pair<int64_t, int64_t>> axes_of_matrix(UOp n, const Axes& axes) {
  const size_t count = axes.all() ? n->rank() : axes.list().size();
  if (count != 1 && count != 2)
    usage_error("a norm with an order over {} axes of {}; give 1 axis, or 2 for a matrix", count, describe(n));
  if (count == 1) return {};
  return axes.all() ? std::pair<int64_t, int64_t>(0, 1) : std::pair(axes.list()[0], axes.list()[1]);
}

}  // namespace

Tensor vector_norm(Arg x, double p, Axes axes, bool keepdim, DType dtype) {
  return norm_of("vector_norm", x, p, axes, keepdim, dtype);
}
Tensor norm(Arg x, double p, Axes axes, bool keepdim, DType dtype) {
  return norm_of("norm", x, p, axes, keepdim, dtype);
}

Tensor matrix_norm(Arg x, std::string_view order, std::pair<int64_t, int64_t> axes, bool keepdim) {
  Call call("matrix_norm", x.where());
  UOp n = float_operand(x);
  const auto [rows, columns] = matrix_axes(n, axes);
  if (order == "nuc") {
    UOp s = singular_values(n, rows, columns);
    const auto last = static_cast<int64_t>(s->rank()) - 1;
    return wrap_norm(sum(s, {last}), {std::min(rows, columns), std::max(rows, columns)}, keepdim, n->dtype);
  }
  if (order != "fro")
    usage_error("the order \"{}\" of {}; give \"fro\", \"nuc\", 1, 2, infinity or one of these numbers negative", order,
                describe(n));
  const Ints both{std::min(rows, columns), std::max(rows, columns)};
  return wrap_norm(norm_over(to_compute_type(n), 2, both), both, keepdim, n->dtype);
}

Tensor matrix_norm(Arg x, double order, std::pair<int64_t, int64_t> axes, bool keepdim) {
  Call call("matrix_norm", x.where());
  UOp n = float_operand(x);
  const auto [rows, columns] = matrix_axes(n, axes);
  if (std::abs(order) == 2) {
    UOp s = singular_values(n, rows, columns);
    return wrap_norm(extreme_norm(s, order > 0, static_cast<int64_t>(s->rank()) - 1),
                     {std::min(rows, columns), std::max(rows, columns)}, keepdim, n->dtype);
  }
  if (!(std::abs(order) == 1 || std::isinf(order)))
    usage_error("the order {} of {}; give \"fro\", \"nuc\", 1, 2, infinity or one of these numbers negative", order,
                describe(n));
  const int64_t summed = std::isinf(order) ? columns : rows, left = std::isinf(order) ? rows : columns;
  UOp sums = norm_over(to_compute_type(n), 1, {summed});
  const Ints both{std::min(rows, columns), std::max(rows, columns)};
  return wrap_norm(extreme_norm(sums, order > 0, left - (summed < left)), both, keepdim, n->dtype);
}

Tensor linalg_norm(Arg x, std::optional<double> order, Axes axes, bool keepdim) {
  const OuterCall outer("linalg_norm", x.where());
  if (!order) return vector_norm(x, 2, std::move(axes), keepdim);
  const auto matrix = [&] {
    const Call call("linalg_norm", x.where());
    return axes_of_matrix(operand(x), axes);
  }();
  return matrix ? matrix_norm(x, *order, *matrix, keepdim) : vector_norm(x, *order, std::move(axes), keepdim);
}
Tensor linalg_norm(Arg x, std::string_view order, Axes axes, bool keepdim) {
  const OuterCall outer("linalg_norm", x.where());
  const auto matrix = [&] {
    const Call call("linalg_norm", x.where());
    const UOp n = operand(x);
    const auto found = axes_of_matrix(n, axes);
    if (!found) usage_error("the order \"{}\" over 1 axis of {}; give the 2 of a matrix", order, describe(n));
    return *found;
  }();
  return matrix_norm(x, order, matrix, keepdim);
}

Tensor normalize(Arg x, double p, int64_t axis, double eps) {
  Call call("normalize", x.where());
  UOp n = float_operand(x);
  axis = axis_of(n, axis);
  UOp wide = to_compute_type(n), norm = at_least(norm_over(wide, p, {axis}), eps);
  return wrap(cast(wide / expand(norm, wide->shape, {axis}), n->dtype));
}

Tensor cosine_similarity(Arg a, Arg b, int64_t axis, double eps) {
  Call call("cosine_similarity", a.where());
  const DType t = common_float_type({&a, &b});
  const std::vector<UOp> n = broadcast_floats(a, b, t);
  axis = axis_of(n[0], axis);
  const auto unit = [&](UOp x) { return x / expand(at_least(norm_over(x, 2, {axis}), eps), x->shape, {axis}); };
  return wrap(cast(sum(unit(n[0]) * unit(n[1]), {axis}), t));
}

Tensor pairwise_distance(Arg a, Arg b, double p, double eps, bool keepdim) {
  Call call("pairwise_distance", a.where());
  const DType t = common_float_type({&a, &b});
  const std::vector<UOp> n = broadcast_floats(a, b, t);
  const Ints last{axis_of(n[0], -1)};
  return wrap_norm(norm_over(n[0] - n[1] + eps, p, last), last, keepdim, t);
}

Tensor cdist(Arg a, Arg b, double p) {
  Call call("cdist", a.where());
  const DType t = common_float_type({&a, &b});
  UOp x = operand(a, t), y = operand(b, t);
  if (x->rank() < 2 || y->rank() < 2)
    usage_error("{} and {}: both need at least 2 axes, [rows, columns]; use unsqueeze", describe(x), describe(y));
  if (!(x->shape[-1] == y->shape[-1]))
    usage_error("rows of {} and of {} differ, {} columns against {}; {}", describe(x), describe(y),
                to_string(x->shape[-1]), to_string(y->shape[-1]),
                mismatch_hint(x->shape[-1], y->shape[-1], "they must have one length"));
  return wrap(cast(distances(to_compute_type(x), to_compute_type(y), p), t));
}

Tensor pdist(Arg x, double p) {
  Call call("pdist", x.where());
  UOp n = float_operand(x);
  if (n->rank() != 2) usage_error("{} has {} axes and must have 2, [rows, columns]; use cdist", describe(n), n->rank());
  const int64_t rows = fixed_size(n, 0, "paired with itself");
  UOp wide = to_compute_type(n), all = distances(wide, wide, p);
  std::vector<int64_t> pairs;
  pairs.reserve(static_cast<size_t>(rows * std::max<int64_t>(rows - 1, 0) / 2));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i + 1; j < rows; ++j) pairs.push_back(i * rows + j);
  // Stored, since an element picked out of a distance would be summed alone.
  const Tensor flat = wrap(reshape(contiguous(cast(all, n->dtype)), {rows * rows}));
  return index_select(Arg(flat, x.where()), 0, from(pairs, n->device, x.where()));
}

}  // namespace sinter::inline v0
