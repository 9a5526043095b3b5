// interpolate: along each axis, elements picked by computed positions and weighted; and the shuffles of channels.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sinter/pooling.h"
#include "sinter/resampling.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/pick.h"
#include "tensor/ops/windows.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// How one axis is resampled. Position i of the result is at i * scale of the axis.
struct ResampledAxis {
  int64_t axis, in, out;
  double scale;
};

/// The axes' new sizes, from the size or the factors that were given.
std::vector<ResampledAxis> resampled_axes(UOp x, size_t axes, const InterpolateOptions& o) {
  const std::vector<int64_t>& sizes = o.size.numbers();
  const std::vector<double>& factors = o.scale_factor.numbers();
  if (sizes.empty() == factors.empty())
    usage_error("a size of {{{}}} and factors of {{{}}} are given; give one of both", fmt::join(sizes, ", "),
                fmt::join(factors, ", "));
  const size_t given = std::max(sizes.size(), factors.size());
  if (given != 1 && given != axes)
    usage_error("{} numbers given for {} axes; give one number, or one for each", given, axes);
  std::vector<ResampledAxis> out;
  for (size_t i = 0; i < axes; ++i) {
    const auto axis = static_cast<int64_t>(x->rank() - axes + i);
    ResampledAxis r{axis, fixed_size(x, axis, "resampled"), 0, 0};
    const double factor = factors.empty() ? 0 : factors[given == 1 ? 0 : i];
    const double size = factors.empty() ? static_cast<double>(sizes[given == 1 ? 0 : i])
                                        : std::floor(static_cast<double>(r.in) * factor);
    if (!(size >= 1 && size <= static_cast<double>(Shape::kMaxElements)) || r.in < 1)
      usage_error("axis {} of {} would get {} elements, from {}; both must be at least 1", axis, describe(x), size,
                  r.in);
    r.out = static_cast<int64_t>(size);
    r.scale = o.align_corners   ? (r.out > 1 ? static_cast<double>(r.in - 1) / static_cast<double>(r.out - 1) : 0.0)
              : factors.empty() ? static_cast<double>(r.in) / static_cast<double>(r.out)
                                : 1.0 / factor;
    out.push_back(r);
  }
  return out;
}

/// The place of each element of the result along the axis, in type t: of its center, unless `corner`.
UOp places_of(UOp x, const ResampledAxis& r, DType t, bool corner) {
  const UOp i = cast(position({r.out}, 0, x->device), t);
  return corner ? i * r.scale : (i + 0.5) * r.scale - 0.5;
}

UOp within(UOp index, const ResampledAxis& r) {
  return minimum(maximum(index, like(index, 0.0)), like(index, Scalar::of(DType::I64, r.in - 1)));
}

/// x along the axis at `index`, times `weight` if there is one.
UOp picked(UOp x, const ResampledAxis& r, UOp index, UOp weight = {}) {
  const UOp y = pick(x, {r.axis}, {within(index, r)}, r.axis);
  return weight ? y * expand(weight, y->shape, others(y->rank(), {r.axis})) : y;
}

UOp nearest(UOp x, const ResampledAxis& r, bool exact) {
  if (r.out == r.in && !exact) return x;
  const int64_t times = r.out / r.in;
  if (times * r.in == r.out && r.scale * static_cast<double>(times) == 1.0) {
    Shape repeated, shape = x->shape;
    for (size_t a = 0; a < x->rank(); ++a) {
      repeated.push_back(x->shape[a]);
      if (static_cast<int64_t>(a) == r.axis) repeated.push_back(times);
    }
    shape[r.axis] = r.out;
    return reshape(expand(x, repeated, {r.axis + 1}), shape);
  }
  const UOp i = cast(position({r.out}, 0, x->device), DType::F32);
  return picked(x, r, cast(alu(Op::Floor, {(exact ? i + 0.5 : i) * r.scale}), DType::I64));
}

UOp linear(UOp x, const ResampledAxis& r, bool align) {
  if (r.out == r.in) return x;
  UOp at = places_of(x, r, x->dtype, align);
  at = maximum(at, like(at, 0.0));
  const UOp low = within(cast(at, DType::I64), r), off = at - cast(low, x->dtype), part = minimum(off, like(off, 1.0));
  return picked(x, r, low, 1.0 - part) + picked(x, r, low + 1.0, part);
}

/// Keys, "Cubic convolution interpolation for digital image processing", 1981, with a = -0.75.
UOp cubic(UOp x, const ResampledAxis& r, bool align) {
  constexpr double kA = -0.75;
  const UOp at = places_of(x, r, x->dtype, align), floor = alu(Op::Floor, {at}), t = at - floor,
            first = cast(floor, DType::I64);
  const auto near = [](UOp d) { return ((d * (kA + 2)) - (kA + 3)) * d * d + 1.0; };
  const auto far = [](UOp d) { return (((d * kA) - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
  return picked(x, r, first - 1.0, far(t + 1.0)) + picked(x, r, first, near(t)) +
         picked(x, r, first + 1.0, near(1.0 - t)) + picked(x, r, first + 2.0, far(2.0 - t));
}

/// The number of axes that a mode resamples; 0 if any.
size_t axes_of_mode(ResampleMode mode) {
  switch (mode) {
    case ResampleMode::Linear: return 1;
    case ResampleMode::Bilinear:
    case ResampleMode::Bicubic: return 2;
    case ResampleMode::Trilinear: return 3;
    default: return 0;
  }
}

bool has_corners(ResampleMode mode) { return axes_of_mode(mode) > 0; }

Tensor area(UOp x, size_t axes, const std::vector<ResampledAxis>& list) {
  const Tensor t = wrap(x);
  if (axes == 1) return adaptive_avg_pool1d(t, list[0].out);
  if (axes == 2) return adaptive_avg_pool2d(t, {list[0].out, list[1].out});
  return adaptive_avg_pool3d(t, {list[0].out, list[1].out, list[2].out});
}

/// The size of `axis`, which must be a multiple of `divisor`, at least 1.
int64_t divisible(UOp x, int64_t axis, int64_t divisor, const char* name) {
  const int64_t size = fixed_size(x, axis, "divided");
  if (divisor < 1 || size % divisor)
    usage_error("axis {} of {} has {} elements, which {} {} do not divide; choose a divisor", axis, describe(x), size,
                name, divisor);
  return size / divisor;
}

void require_image(UOp x) {
  if (x->rank() < 3) usage_error("{} has {} axes; give [.., channels, h, w]", describe(x), x->rank());
}

/// x with its last three axes replaced by others: first to `sizes`, then in the order `order`, then to `shape`.
Tensor rearranged(UOp x, std::initializer_list<int64_t> sizes, std::initializer_list<int64_t> order,
                  std::initializer_list<int64_t> shape) {
  Shape split, joined;
  Ints axes;
  for (size_t a = 0; a + 3 < x->rank(); ++a) {
    split.push_back(x->shape[a]);
    joined.push_back(x->shape[a]);
    axes.push_back(static_cast<int64_t>(a));
  }
  const auto lead = static_cast<int64_t>(axes.size());
  for (const int64_t s : sizes) split.push_back(s);
  for (const int64_t s : shape) joined.push_back(s);
  for (const int64_t a : order) axes.push_back(lead + a);
  return wrap(reshape(permute(reshape(x, split), axes), joined));
}

}  // namespace

Tensor interpolate(Arg input, const InterpolateOptions& o) {
  Call call("interpolate", input.where());
  const UOp given = operand(input);
  const size_t axes = given->rank() - std::min<size_t>(given->rank(), 2), wanted = axes_of_mode(o.mode);
  if (axes < 1 || axes > 3 || (wanted && wanted != axes))
    usage_error("{} has {} axes; give [n, channels, {}]", describe(given), given->rank(),
                sliding_names(wanted ? wanted : 2));
  if (o.align_corners && !has_corners(o.mode))
    usage_error("align_corners is true, but only linear and cubic modes have corners to keep; leave it false");
  const std::vector<ResampledAxis> list = resampled_axes(given, axes, o);
  if (o.mode == ResampleMode::Area) return area(given, axes, list);
  Shape shape = given->shape;
  for (const ResampledAxis& r : list) shape[r.axis] = r.out;
  check_shape(shape);
  const bool exact = o.mode == ResampleMode::NearestExact;
  if (exact || o.mode == ResampleMode::Nearest) {
    UOp y = given;
    for (const ResampledAxis& r : list) y = nearest(y, r, exact);
    return wrap(y);
  }
  const UOp x = float_operand(input);
  UOp y = to_compute_type(x);
  for (const ResampledAxis& r : list)
    y = o.mode == ResampleMode::Bicubic ? cubic(y, r, o.align_corners) : linear(y, r, o.align_corners);
  return wrap(cast(y, x->dtype));
}

Tensor pixel_shuffle(Arg input, int64_t r) {
  Call call("pixel_shuffle", input.where());
  const UOp x = operand(input);
  require_image(x);
  const auto rank = static_cast<int64_t>(x->rank());
  const int64_t squares = r > 0 && r < (int64_t{1} << 20) ? r * r : 0;
  const int64_t c = divisible(x, rank - 3, squares, "blocks of"), h = fixed_size(x, rank - 2, "made longer"),
                w = fixed_size(x, rank - 1, "made longer");
  return rearranged(x, {c, r, r, h, w}, {0, 3, 1, 4, 2}, {c, h * r, w * r});
}

Tensor pixel_unshuffle(Arg input, int64_t r) {
  Call call("pixel_unshuffle", input.where());
  const UOp x = operand(input);
  require_image(x);
  const auto rank = static_cast<int64_t>(x->rank());
  const int64_t h = divisible(x, rank - 2, r, "parts of"), w = divisible(x, rank - 1, r, "parts of"),
                c = fixed_size(x, rank - 3, "made longer");
  return rearranged(x, {c, h, r, w, r}, {0, 2, 4, 1, 3}, {c * r * r, h, w});
}

Tensor channel_shuffle(Arg input, int64_t groups) {
  Call call("channel_shuffle", input.where());
  const UOp x = operand(input);
  if (x->rank() < 2) usage_error("{} has no axis of channels; give [n, channels, ..]", describe(x));
  const int64_t each = divisible(x, 1, groups, "groups of");
  Shape split{x->shape[0], groups, each};
  Ints order{0, 2, 1};
  for (size_t a = 2; a < x->rank(); ++a) {
    split.push_back(x->shape[a]);
    order.push_back(static_cast<int64_t>(a) + 1);
  }
  return wrap(reshape(permute(reshape(x, split), order), x->shape));
}

}  // namespace sinter::inline v0
