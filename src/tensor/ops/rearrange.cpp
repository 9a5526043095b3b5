// Elements in other places: roll, rot90, repetition, padding by the tensor itself, differences of neighbors.
#include <fmt/core.h>

#include <algorithm>

#include "sinter/create.h"
#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/core/unchosen_sizes.h"
#include "tensor/ops/pick.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// The parts that have elements, joined.
UOp join_parts(std::initializer_list<UOp> parts, int64_t axis) {
  std::vector<UOp> filled = filtered(parts, [&](UOp p) { return !(p->shape[axis] == 0); });
  return filled.empty() ? *parts.begin() : cat(filled, axis);
}

UOp roll_axis(UOp x, int64_t axis, int64_t shift) {
  const int64_t size = fixed_size(x, axis, "rolled");
  if (size < 2 || shift % size == 0) return x;
  const int64_t first = (size - shift % size) % size;  // the element that comes to place 0
  return join_parts({tensor::shrink_axis(x, axis, first, size), tensor::shrink_axis(x, axis, 0, first)}, axis);
}

/// x with each axis i repeated counts[i] times as a whole. As many counts as axes.
UOp repeat_axes(UOp x, const std::vector<int64_t>& counts) {
  Ints added;
  Shape spread, joined;
  for (size_t i = 0; i < counts.size(); ++i) {
    const Dim& size = x->shape[i];
    if (counts[i] == 1) {
      spread.push_back(size);
      joined.push_back(size);
      continue;
    }
    added.push_back(static_cast<int64_t>(spread.rank()));
    spread.push_back(counts[i]);
    spread.push_back(fixed_size(x, static_cast<int64_t>(i), "repeated"));
    Shape both{counts[i], size};
    check_shape(both);
    joined.push_back(both.numel());
  }
  check_shape(joined);
  return reshape(expand(x, spread, added), joined);
}

/// x with leading axes of size 1, up to `rank` axes.
UOp with_rank(UOp x, size_t rank) {
  Ints lead;
  while (x->rank() + lead.size() < rank) lead.push_back(static_cast<int64_t>(lead.size()));
  return lead.empty() ? x : insert_axes(x, lead);
}

void check_counts(UOp x, const std::vector<int64_t>& counts) {
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i] < 0)
      usage_error("{} repeated {} times along axis {}; counts are 0 or more", describe(x), counts[i], i);
}

/// The axis of x that elements are repeated along; without one x is flattened.
int64_t axis_to_repeat(UOp& x, std::optional<int64_t> axis) {
  if (axis) return axis_of(x, *axis);
  for (size_t i = 0; i < x->rank(); ++i) fixed_size(x, static_cast<int64_t>(i), "joined with others");
  x = reshape(x, {x->shape.numel()});
  return 0;
}

/// For each place of the result, the element that stands there: the number of elements whose last copy lies before it.
/// A place beyond the last copy gets the size of the axis, which is out of range, as is the end of a negative number of
/// copies.
UOp repeated_places(UOp repeats, int64_t size) {
  const auto number = [&](int64_t value) { return like(repeats, Scalar::of(DType::I64, value)); };
  UOp end = where(lt(repeats, number(0)), number(size + 1), scan(Combine::Add, repeats, 0));
  UOp none = broadcast_to(constant(*end->graph, DType::I64, 0, end->device), {size + 1});
  UOp ended = scatter_add(none, end, number(1), 0);
  return scan(Combine::Add, tensor::shrink_axis(ended, 0, 0, size), 0);
}

}  // namespace

Tensor fliplr(const Tensor& x, Loc where) {
  Call call("fliplr", where);
  UOp n = node_of(x);
  if (n->rank() < 2) usage_error("{} has {} axes and needs at least 2; use flip for a vector", describe(n), n->rank());
  return wrap(flip(n, {1}));
}
Tensor flipud(const Tensor& x, Loc where) {
  Call call("flipud", where);
  UOp n = node_of(x);
  if (!n->rank()) usage_error("{} has {} axes and needs at least 1", describe(n), n->rank());
  return wrap(flip(n, {0}));
}

Tensor roll(const Tensor& x, const std::vector<int64_t>& shifts, const std::vector<int64_t>& axes, Loc where) {
  Call call("roll", where);
  UOp n = node_of(x);
  if (axes.empty() && shifts.size() == 1) {
    UOp flat = n;
    axis_to_repeat(flat, {});
    return wrap(reshape(roll_axis(flat, 0, shifts[0]), n->shape));
  }
  if (shifts.size() != axes.size())
    usage_error("{} shifts for {} axes of {}; give a shift for each axis", shifts.size(), axes.size(), describe(n));
  for (size_t i = 0; i < axes.size(); ++i) n = roll_axis(n, axis_of(n, axes[i]), shifts[i]);
  return wrap(n);
}
Tensor roll(const Tensor& x, int64_t shift, std::optional<int64_t> axis, Loc where) {
  return roll(x, std::vector{shift}, axis ? std::vector{*axis} : std::vector<int64_t>{}, where);
}

Tensor rot90(const Tensor& x, int64_t times, const std::vector<int64_t>& axes, Loc where) {
  Call call("rot90", where);
  UOp n = node_of(x);
  if (axes.size() != 2) usage_error("{} axes given for {}; a rotation is between 2", axes.size(), describe(n));
  axes_of(n, axes);  // errors: no such axis, or one given twice
  const int64_t a = axis_of(n, axes[0]), b = axis_of(n, axes[1]);
  Ints order = ir::all_axes(n->rank());
  std::swap(order[a], order[b]);
  switch (times & 3) {
    case 1: return wrap(permute(flip(n, {b}), order));
    case 2: return wrap(flip(n, axes_of(n, axes)));
    case 3: return wrap(flip(permute(n, order), {b}));
    default: return wrap(n);
  }
}

Tensor repeat(const Tensor& x, const std::vector<int64_t>& counts, Loc where) {
  Call call("repeat", where);
  UOp n = node_of(x);
  if (counts.size() < n->rank())
    usage_error("{} counts for the {} axes of {}; give one for each, or use tile", counts.size(), n->rank(),
                describe(n));
  check_counts(n, counts);
  return wrap(repeat_axes(with_rank(n, counts.size()), counts));
}

Tensor tile(const Tensor& x, const std::vector<int64_t>& counts, Loc where) {
  Call call("tile", where);
  UOp n = node_of(x);
  check_counts(n, counts);
  std::vector<int64_t> all(std::max(counts.size(), n->rank()) - counts.size(), 1);
  all.insert(all.end(), counts.begin(), counts.end());
  return wrap(repeat_axes(with_rank(n, all.size()), all));
}

Tensor repeat_interleave(const Tensor& x, int64_t count, std::optional<int64_t> axis, Loc where) {
  Call call("repeat_interleave", where);
  UOp n = node_of(x);
  const int64_t a = axis_to_repeat(n, axis);
  check_counts(n, {count});
  if (count == 1) return wrap(n);
  Shape shape = n->shape, spread;
  for (size_t i = 0; i < shape.rank(); ++i) {
    spread.push_back(shape[i]);
    if (static_cast<int64_t>(i) == a) spread.push_back(count);
  }
  check_shape(spread);
  shape[a] = fixed_size(n, a, "repeated") * count;
  return wrap(reshape(expand(n, spread, {a + 1}), shape));
}

Tensor repeat_interleave(const Tensor& x, const Tensor& repeats, std::optional<int64_t> axis,
                         std::optional<int64_t> output_size, Loc where) {
  const OuterCall outer("repeat_interleave", where);
  Tensor counts;
  int64_t size = 0;
  {
    Call call("repeat_interleave", where);
    UOp n = node_of(x), r = node_of(repeats);
    const int64_t a = axis_to_repeat(n, axis), length = fixed_size(n, a, "repeated");
    if (!is_integer(r->dtype) || r->rank() > 1)
      usage_error("the repeats are {} and must be a vector of integers, one for each of the {} elements", describe(r),
                  length);
    r = cast(r, DType::I64);
    const Shape vector{length};
    if (!(r->shape == vector) && !(r->shape.numel() == 1))
      usage_error("{} repeats for {} elements along axis {} of {}; give one for each, or one for all", r->shape.numel(),
                  length, a, describe(n));
    counts = wrap(on_device(broadcast_to(r, vector), n->device, n->shape));
    if (!output_size)
      refuse_size_by_data(fmt::format("the size of the result of {} with the repeats {}", describe(n), describe(r)),
                          "the argument output_size, which is their sum");
    if (output_size && *output_size < 0)
      usage_error("the output_size {} for {}; it is the sum of the repeats, 0 or more", *output_size, describe(r));
  }
  if (output_size) {
    size = *output_size;
  } else {
    for (int64_t c : counts.detach().to_vector<int64_t>(where)) {
      if (c < 0) usage_error("an element of {} repeated {} times; counts are 0 or more", to_string(x.shape()), c);
      size = saturating_add(size, c);
    }
  }
  Call call("repeat_interleave", where);
  UOp n = node_of(x);
  const int64_t a = axis_to_repeat(n, axis);
  Shape shape = n->shape;
  shape[a] = size;
  check_shape(shape);
  if (shape.numel() == 0) return wrap(full(*n->graph, shape, n->dtype, 0, n->device));
  return wrap(pick(n, {a}, {repeated_places(node_of(counts), size)}, a));
}

Tensor diff(const Tensor& x, int64_t n, int64_t axis, const Tensor& before, const Tensor& after, Loc where) {
  Call call("diff", where);
  Tensor whole = x;
  if (n < 0) usage_error("{} differences of {}; give 0 or more", n, describe(node_of(x)));
  if (before.defined()) whole = cat({before, whole}, axis, where);
  if (after.defined()) whole = cat({whole, after}, axis, where);
  UOp y = node_of(whole);
  axis = axis_of(y, axis);
  const int64_t size = fixed_size(y, axis, "compared with its neighbors");
  if (n >= size) return wrap(tensor::shrink_axis(y, axis, 0, 0));
  for (int64_t last = size; n-- > 0; --last) {
    UOp next = tensor::shrink_axis(y, axis, 1, last), own = tensor::shrink_axis(y, axis, 0, last - 1);
    y = is_bool(y->dtype) ? ne(next, own) : next - own;
  }
  return wrap(y);
}

}  // namespace sinter::inline v0
