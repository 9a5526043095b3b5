// Indexing by numbers, slices, newaxis and ellipsis with NumPy's semantics.
#include <algorithm>

#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/index.h"

namespace sinter::tensor {
namespace {

using AxisSlice = BasicIndex::AxisSlice;

bool takes_axis(const Index& i) { return i.kind != Index::Kind::NewAxis && i.kind != Index::Kind::Ellipsis; }

AxisSlice resolve_number(UOp x, int64_t axis, int64_t number) {
  const int64_t n = fixed_size(x, axis, "indexed by a number", ", or index with a tensor");
  if (number < -n || number >= n)
    usage_error("index {} is out of range for axis {} of {} with {} elements; give {} to {}", number, axis, describe(x),
                n, -n, n - 1);
  return {number < 0 ? number + n : number, 1, 1, n == 1};
}

/// The elements from the first to a symbolic number of them.
AxisSlice resolve_symbolic(UOp x, int64_t axis, const Slice& s) {
  const Dim& size = x->shape[axis];
  if (s.begin && s.begin->symbolic())
    usage_error("a slice of axis {} of {} begins at the symbolic size {}; give Narrow{{Tensor(n), length}}", axis,
                describe(x), to_string(*s.begin));
  const Dim& end = *s.end;
  if (end == size && s.begin.value_or(0) == 0 && s.step == 1) return {0, 1, size, true};
  if (s.begin.value_or(0).value() != 0 || s.step != 1)
    usage_error(
        "a slice of axis {} of {} from {} to the symbolic size {} has step {}; begin at 0 with step "
        "1, or give narrow() its length",
        axis, describe(x), s.begin.value_or(0).value(), to_string(end), s.step);
  const int64_t n = fixed_size(x, axis, "sliced to another symbolic size");
  if (end.bound() > n)
    usage_error("axis {} of {} has {} elements, fewer than the largest {}, {}; give the Var a smaller max", axis,
                describe(x), n, end.var().name(), end.bound());
  return {0, 1, end, false};
}

AxisSlice resolve_slice(UOp x, int64_t axis, const Slice& s) {
  const Dim& size = x->shape[axis];
  if (s.step == 0) usage_error("a slice of axis {} of {} has step 0; give another step", axis, describe(x));
  if (s.begin.value_or(0) == 0 && !s.end && s.step == 1) return {0, 1, size, true};
  if (!s.begin && !s.end && s.step == -1) return {size.value() - 1, -1, size, false};
  if ((s.begin && s.begin->symbolic()) || (s.end && s.end->symbolic())) return resolve_symbolic(x, axis, s);
  const int64_t n = fixed_size(x, axis, "sliced",
                               ", or index with a tensor, or keep all of it and choose with where()"),
                low = s.step > 0 ? 0 : -1, high = s.step > 0 ? n : n - 1;
  auto bound = [&](const SliceEnd& v, int64_t otherwise) {
    return v ? std::clamp(v->value() < 0 ? v->value() + n : v->value(), low, high) : otherwise;
  };
  const bool up = s.step > 0;
  const int64_t begin = bound(s.begin, up ? low : high), end = bound(s.end, up ? high : low);
  const int64_t count = range_length(begin, end, s.step);
  if (!count) return {0, 1, 0, n == 0};
  return {begin, count > 1 ? s.step : 1, count, begin == 0 && count == n && (s.step == 1 || count == 1)};
}

/// The movements that read a part: flip axes with negative steps, then shrink to a box. An axis of step s is padded to
/// full rows of s elements, of which the first column is taken.
struct SliceMovements {
  Ints mirrored;
  Region cut, column;
  Shape taken, filled, rows;
  bool strided = false;
};

SliceMovements movements_of(const Shape& shape, const BasicIndex& index) {
  SliceMovements w;
  w.cut = full_region(shape);
  for (size_t a = 0; a < shape.rank(); ++a) {
    const AxisSlice& s = index.slices[a];
    const int64_t step = s.step < 0 ? -s.step : s.step, n = shape[a].value(), count = s.count.value();
    if (s.step < 0) w.mirrored.push_back(static_cast<int64_t>(a));
    const int64_t begin = s.step < 0 ? n - 1 - s.begin : s.begin, end = std::min(n, begin + count * step);
    const bool sized = s.count.symbolic() && !(s.count == shape[a]);  // begins at 0
    const bool all = s.whole || (begin == 0 && end == n && !sized);
    if (!all) w.cut[a] = {begin, sized ? s.count : Dim(end)};
    w.taken.push_back(all ? shape[a] : sized ? s.count : Dim(end - begin));
    w.filled.push_back(step > 1 ? Dim(count * step) : s.count);
    w.rows.push_back(s.count);
    w.column.push_back({0, s.count});
    if (step == 1) continue;
    w.strided = true;
    w.rows.push_back(step);
    w.column.push_back({0, 1});
  }
  return w;
}

}  // namespace

std::vector<Index> expand_ellipsis(UOp x, std::span<const Index> items) {
  const auto taken = static_cast<size_t>(std::ranges::count_if(items, takes_axis));
  if (taken > x->rank())
    usage_error("{} items that take an axis, but {} has {} axes; leave some out", taken, describe(x), x->rank());
  std::vector<Index> out;
  bool open = false;
  for (const Index& i : items) {
    if (i.kind != Index::Kind::Ellipsis) {
      out.push_back(i);
      continue;
    }
    if (std::exchange(open, true))
      usage_error("2 ellipses in the index of {}; at most 1 can stand for the axes not named", describe(x));
    out.insert(out.end(), x->rank() - taken, Index(Slice{}));
  }
  if (!open) out.insert(out.end(), x->rank() - taken, Index(Slice{}));
  return out;
}

bool BasicIndex::box() const {
  return std::ranges::all_of(slices, [](const AxisSlice& s) { return s.step == 1; });
}

Region BasicIndex::region() const {
  return mapped<Region>(slices, [&](const AxisSlice& s) {
    return s.whole || s.count.symbolic() ? Extent{0, s.count} : Extent{s.begin, s.begin + s.count.value()};
  });
}

BasicIndex resolve(UOp x, std::span<const Index> items) {
  BasicIndex out;
  for (const Index& i : expand_ellipsis(x, items)) {
    const int64_t axis = static_cast<int64_t>(out.slices.size());
    switch (i.kind) {
      case Index::Kind::NewAxis: out.shape.push_back(1); break;
      case Index::Kind::Number: out.slices.push_back(resolve_number(x, axis, i.number)); break;
      case Index::Kind::Slice:
        out.slices.push_back(resolve_slice(x, axis, i.slice));
        out.shape.push_back(out.slices.back().count);
        break;
      case Index::Kind::Narrow:
      case Index::Kind::Tensor: throw InternalError("an index tensor among the items of a basic index");
      case Index::Kind::Ellipsis: throw InternalError("an ellipsis is left in a completed index");
    }
  }
  return out;
}

UOp read(UOp x, const BasicIndex& index) {
  const SliceMovements w = movements_of(x->shape, index);
  UOp part = shrink(flip(x, w.mirrored), w.cut);
  if (w.strided) part = shrink(reshape(pad(part, full_region(part->shape), w.filled), w.rows), w.column);
  return reshape(part, index.shape);
}

UOp overwrite(UOp x, const BasicIndex& index, UOp v) {
  const SliceMovements w = movements_of(x->shape, index);
  // The inverse of read(): places the value, then places a mask that tells where it is.
  auto placed = [&](UOp part) {
    if (w.strided) {
      auto thin = mapped<Shape>(w.column, &Extent::end);
      part = reshape(pad(reshape(part, thin), w.column, w.rows), w.filled);
      part = shrink(part, full_region(w.taken));
    } else {
      part = reshape(part, w.taken);
    }
    return flip(pad(part, w.cut, x->shape), w.mirrored);
  };
  return where(placed(true_like(v)), placed(v), x);
}

}  // namespace sinter::tensor
