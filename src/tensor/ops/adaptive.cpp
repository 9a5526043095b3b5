// Adaptive pooling: as many windows as are asked for. Where sizes divide, windows are all alike and next to each other.
// Elsewhere they repeat after the common divisor of both sizes: that is one axis, and each window takes its elements
// from a whole period.
#include <numeric>
#include <optional>
#include <vector>

#include "sinter/pooling.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/pool.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// One axis: `periods` times `in` elements, from which `out` windows are taken.
struct Period {
  int64_t axis, periods, in, out;
};

/// The sliding axes without those that stay as they are.
std::vector<Period> periods_of(UOp x, size_t axes, const AdaptiveSize& size) {
  const std::vector<std::optional<int64_t>>& sizes = size.sizes();
  if (sizes.size() != 1 && sizes.size() != axes)
    usage_error("the output has {} sizes, but windows slide along {} {}; give one, or one for each", sizes.size(), axes,
                axes == 1 ? "axis" : "axes");
  std::vector<Period> found;
  for (size_t i = 0; i < axes; ++i) {
    const std::optional<int64_t> wanted = sizes[sizes.size() == 1 ? 0 : i];
    if (!wanted) continue;
    if (*wanted < 1)
      usage_error("the output's size is {}; it must be at least 1, or std::nullopt for that of the input", *wanted);
    const auto axis = static_cast<int64_t>(x->rank() - axes + i);
    const int64_t have = fixed_size(x, axis, "seen through windows", ", or keep it by std::nullopt"),
                  common = std::gcd(have, *wanted);
    if (have == 0)
      usage_error("axis {} of {} has 0 elements, from which {} windows cannot be taken; give at least 1", axis,
                  describe(x), *wanted);
    found.push_back({axis, common, have / common, *wanted / common});
  }
  return found;
}

/// Windows next to each other, if that is what all `sliding` axes have.
std::vector<WindowAxis> even_windows(const std::vector<Period>& axes, size_t sliding) {
  std::vector<WindowAxis> out;
  if (axes.size() != sliding) return out;
  for (const Period& p : axes) {
    if (p.out != 1) return {};
    out.push_back({p.in, p.in, 0, 1});
  }
  return out;
}

/// x with each window of an axis seeing its whole period: [.., periods, out, in, ..].
UOp periods(UOp x, const Period& p) {
  Shape split, seen;
  for (int64_t a = 0; a < static_cast<int64_t>(x->rank()); ++a) {
    if (a != p.axis) {
      split.push_back(x->shape[a]);
      seen.push_back(x->shape[a]);
      continue;
    }
    for (const int64_t n : {p.periods, p.in}) split.push_back(n);
    for (const int64_t n : {p.periods, p.out, p.in}) seen.push_back(n);
  }
  check_shape(seen);
  return expand(reshape(x, split), seen, {p.axis + 1});
}

/// Whether an element of a period belongs to the window, in the shape of `seen`. Null: each does.
UOp belongs(UOp seen, const Period& p) {
  if (p.out == 1) return {};
  const Shape plane{p.out, p.in};
  const UOp window = position(plane, 0, seen->device), at = position(plane, 1, seen->device);
  const auto number = [&](int64_t n) { return like(at, Scalar::of(DType::I64, n)); };
  const UOp first = idiv(window * number(p.in), number(p.out)),
            end = idiv(window * number(p.in) + number(p.in + p.out - 1), number(p.out));
  return expand(le(first, at) & lt(at, end), seen->shape, others(seen->rank(), {p.axis + 1, p.axis + 2}));
}

/// The two axes of a reduced period, joined.
UOp joined(UOp x, const Period& p) {
  Shape shape;
  for (int64_t a = 0; a < static_cast<int64_t>(x->rank()); ++a) {
    if (a == p.axis + 1) continue;
    shape.push_back(a == p.axis ? Dim(p.periods * p.out) : x->shape[a]);
  }
  return reshape(x, shape);
}

UOp mean_over_periods(UOp x, const Period& p) {
  const UOp seen = periods(x, p), inside = belongs(seen, p);
  const Ints axis{p.axis + 2};
  if (!inside) return joined(reduce(Combine::Add, seen, axis) / static_cast<double>(p.in), p);
  const UOp total = reduce(Combine::Add, where(inside, seen, like(seen, 0.0)), axis);
  return joined(total / reduce(Combine::Add, cast(inside, x->dtype), axis), p);
}

MaxPooled max_over_periods(const MaxPooled& x, const Period& p) {
  UOp seen = periods(x.value, p), place = periods(x.place, p);
  const UOp inside = belongs(seen, p);
  if (inside) {
    seen = where(inside, seen, like(seen, reduction_identity(Combine::Max, seen->dtype)));
    place = where(inside, place, like(place, reduction_identity(Combine::ArgMax, DType::I64, 1)));
  }
  const UOp pairs[] = {seen, place};
  return {joined(reduce(Combine::ArgMax, pairs, {p.axis + 2}, 0), p),
          joined(reduce(Combine::ArgMax, pairs, {p.axis + 2}, 1), p)};
}

/// Each element's position in the last `axes` axes of x, row-major.
UOp places(UOp x, size_t axes) {
  Shape plane;
  for (size_t i = x->rank() - axes; i < x->rank(); ++i) plane.push_back(x->shape[i]);
  return broadcast_to(flat_position(plane, x->device), x->shape);
}

Tensor adaptive_avg(std::string_view name, size_t axes, const Arg& input, const AdaptiveSize& size) {
  Call call(name, input.where());
  const UOp given = float_operand(input), x = to_compute_type(with_batch_axis(given, axes));
  const std::vector<Period> list = periods_of(x, axes, size);
  UOp y = x;
  if (const auto even = even_windows(list, axes); !even.empty())
    y = mean_over_windows(x, even, given, true, {});
  else
    for (size_t i = list.size(); i-- > 0;) y = mean_over_periods(y, list[i]);
  return unbatched(cast(y, given->dtype), given, x);
}

std::pair<Tensor, Tensor> adaptive_max(std::string_view name, size_t axes, const Arg& input, const AdaptiveSize& size) {
  Call call(name, input.where());
  const UOp given = operand(input), x = with_batch_axis(given, axes);
  const std::vector<Period> list = periods_of(x, axes, size);
  MaxPooled y;
  if (const auto even = even_windows(list, axes); !even.empty()) {
    y = max_over_windows(x, even, given);
  } else {
    y = {x, places(x, axes)};
    for (size_t i = list.size(); i-- > 0;) y = max_over_periods(y, list[i]);
  }
  return {unbatched(y.value, given, x), unbatched(y.place, given, x)};
}

}  // namespace

Tensor adaptive_avg_pool1d(Arg x, const AdaptiveSize& size) { return adaptive_avg("adaptive_avg_pool1d", 1, x, size); }
Tensor adaptive_avg_pool2d(Arg x, const AdaptiveSize& size) { return adaptive_avg("adaptive_avg_pool2d", 2, x, size); }
Tensor adaptive_avg_pool3d(Arg x, const AdaptiveSize& size) { return adaptive_avg("adaptive_avg_pool3d", 3, x, size); }
Tensor adaptive_max_pool1d(Arg x, const AdaptiveSize& size) {
  return adaptive_max("adaptive_max_pool1d", 1, x, size).first;
}
Tensor adaptive_max_pool2d(Arg x, const AdaptiveSize& size) {
  return adaptive_max("adaptive_max_pool2d", 2, x, size).first;
}
Tensor adaptive_max_pool3d(Arg x, const AdaptiveSize& size) {
  return adaptive_max("adaptive_max_pool3d", 3, x, size).first;
}
std::pair<Tensor, Tensor> adaptive_max_pool1d_with_indices(Arg x, const AdaptiveSize& size) {
  return adaptive_max("adaptive_max_pool1d_with_indices", 1, x, size);
}
std::pair<Tensor, Tensor> adaptive_max_pool2d_with_indices(Arg x, const AdaptiveSize& size) {
  return adaptive_max("adaptive_max_pool2d_with_indices", 2, x, size);
}
std::pair<Tensor, Tensor> adaptive_max_pool3d_with_indices(Arg x, const AdaptiveSize& size) {
  return adaptive_max("adaptive_max_pool3d_with_indices", 3, x, size);
}

}  // namespace sinter::inline v0
