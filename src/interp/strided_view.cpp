// Movement ops on interpreted values.
#include "interp/strided_view.h"

#include <algorithm>
#include <cstring>

#include "ir/axis_lists.h"

namespace sinter::runtime {

std::vector<int64_t> row_major(std::span<const int64_t> shape) {
  std::vector<int64_t> step(shape.size());
  int64_t n = 1;
  for (size_t i = shape.size(); i-- > 0; n *= shape[i]) step[i] = n;
  return step;
}

StridedView StridedView::of(Array array) {
  std::vector<int64_t> step = row_major(array.shape);
  auto data = std::make_shared<const PoolVector<std::byte>>(std::move(array.data));
  return {array.dtype, std::move(array.shape), std::move(step), 0, std::move(data)};
}
StridedView StridedView::borrow(const Array& array) {
  return {array.dtype, array.shape, row_major(array.shape), 0, {std::shared_ptr<void>(), &array.data}};
}

Array StridedView::copy() const {
  Array out(dtype, shape);
  copy_into(out, std::vector<int64_t>(rank(), 0), *this);
  return out;
}

void copy_into(Array& target, const std::vector<int64_t>& begin, const StridedView& value) {
  const size_t size = size_of(value.dtype);
  std::vector<int64_t> step = row_major(target.shape);
  int64_t start = 0;
  for (size_t i = 0; i < begin.size(); ++i) start += begin[i] * step[i];
  for_rows<2>(value.shape, {&value.stride, &step}, {value.offset, start},
              [&](int64_t n, const auto& at, const auto& by) {
                const std::byte* from = value.address(at[0]);
                std::byte* to = target.data.data() + static_cast<size_t>(at[1]) * size;
                if (n == 1 || (by[0] == 1 && by[1] == 1)) {
                  std::memcpy(to, from, static_cast<size_t>(n) * size);
                  return;
                }
                const int64_t width = static_cast<int64_t>(size);
                for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * by[1] * width, from + i * by[0] * width, size);
              });
}

StridedView StridedView::permute(const ir::Ints& order) const {
  StridedView v = *this;
  for (size_t i = 0; i < order.size(); ++i) {
    v.shape[i] = shape[order[i]];
    v.stride[i] = stride[order[i]];
  }
  return v;
}

StridedView StridedView::expand(const std::vector<int64_t>& to, const ir::Ints& axes) const {
  StridedView v = *this;
  v.shape = to;
  v.stride = ir::with_axes(stride, axes, [](int64_t) { return 0; });
  return v;
}

StridedView StridedView::slice(const std::vector<int64_t>& begin, const std::vector<int64_t>& size) const {
  StridedView v = *this;
  for (size_t i = 0; i < rank(); ++i) v.offset += begin[i] * stride[i];
  v.shape = size;
  return v;
}

StridedView StridedView::flip(const ir::Ints& axes) const {
  StridedView v = *this;
  for (int64_t a : axes) {
    const auto i = static_cast<size_t>(a);
    v.offset += stride[i] * std::max<int64_t>(shape[i] - 1, 0);
    v.stride[i] = -stride[i];
  }
  return v;
}

StridedView StridedView::window(size_t axis, int64_t place, int64_t size) const {
  const int64_t length = shape[axis], taps = shape[axis + 1];
  StridedView v = *this;
  v.shape[axis] = size;
  if (count_of(v.shape) == 0) return v;
  const int64_t last = (taps - 1) * place;
  if (last >= 0 && size - 1 + last < length) {
    v.stride[axis + 1] += place * stride[axis];
    return v;
  }
  Array out(dtype, v.shape);
  for (int64_t k = 0; k < taps; ++k) {
    const int64_t first = std::max<int64_t>(0, -k * place), end = std::min(size, length - k * place);
    if (end <= first) continue;
    std::vector<int64_t> from(rank(), 0), to(rank(), 0), box_size = shape;
    from[axis] = first + k * place, to[axis] = first;
    from[axis + 1] = to[axis + 1] = k;
    box_size[axis] = end - first, box_size[axis + 1] = 1;
    copy_into(out, to, slice(from, box_size));
  }
  return StridedView::of(std::move(out));
}

StridedView StridedView::reshape(const std::vector<int64_t>& to) const {
  StridedView v = *this;
  v.shape = to;
  v.stride.assign(to.size(), 0);
  if (count_of(shape) == 0) return v;
  // Axes of size 1 have no stride. The others are matched in groups of equal product. Within a group the source must
  // have a single stride.
  std::vector<size_t> from;
  for (size_t i = 0; i < rank(); ++i)
    if (shape[i] != 1) from.push_back(i);
  size_t i = 0, j = 0;
  while (i < from.size()) {
    const size_t first_j = j;
    int64_t have = shape[from[i]], want = 1;
    while (j < to.size() && to[j] == 1) ++j;
    size_t last = i;
    while (want != have) {
      if (want < have)
        want *= to[j++];
      else {
        if (stride[from[last]] != stride[from[last + 1]] * shape[from[last + 1]])
          return StridedView::of(copy()).reshape(to);
        have *= shape[from[++last]];
      }
    }
    int64_t next = stride[from[last]];
    for (size_t k = j; k-- > first_j; next *= to[k]) v.stride[k] = next;
    i = last + 1;
  }
  return v;
}

}  // namespace sinter::runtime
