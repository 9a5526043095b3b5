// A value of the interpreter: an array with strides, so that movement ops cost nothing. Strides exist only here;
// programs speak of indices.
#pragma once

#include <array>
#include <memory>

#include "runtime/exec/array.h"

namespace sinter::runtime {

struct StridedView {
  DType dtype = DType::F32;
  std::vector<int64_t> shape, stride;  ///< strides in elements; 0 broadcasts, negative reverses
  int64_t offset = 0;
  std::shared_ptr<const PoolVector<std::byte>> data;

  static StridedView of(Array array);
  /// Does not copy; `array` must outlive the view.
  static StridedView borrow(const Array& array);
  Array copy() const;
  /// The address of the element at an offset in elements.
  const std::byte* address(int64_t at) const { return data->data() + at * static_cast<int64_t>(size_of(dtype)); }
  size_t rank() const { return shape.size(); }

  StridedView permute(const ir::Ints& order) const;
  /// Broadcast along `axes` of the shape `to`, which the view lacks.
  StridedView expand(const std::vector<int64_t>& to, const ir::Ints& axes) const;
  /// The box of this size at `begin`.
  StridedView slice(const std::vector<int64_t>& begin, const std::vector<int64_t>& size) const;
  StridedView flip(const ir::Ints& axes) const;
  /// Element (i, k) of `axis` and the tap axis behind it becomes element i + k*step; `axis` gets length `size`. Copies
  /// if some elements are out of range, which are zero.
  StridedView window(size_t axis, int64_t step, int64_t size) const;
  /// Copies only if strides cannot express it.
  StridedView reshape(const std::vector<int64_t>& to) const;
};

/// Row-major strides of a shape.
std::vector<int64_t> row_major(std::span<const int64_t> shape);
/// Copies `value` into the box of `target` that starts at `begin`.
void copy_into(Array& target, const std::vector<int64_t>& begin, const StridedView& value);

/// Visits the elements of `shape` in row-major order, in rows as long as the operands' strides allow. Calls row(count,
/// offsets, strides) with one offset and one stride, in elements, per operand.
template <size_t N, class Row>
void for_rows(std::span<const int64_t> shape, const std::array<const std::vector<int64_t>*, N>& steps,
              std::array<int64_t, N> at, Row row) {
  struct StridedAxis {
    int64_t size;
    std::array<int64_t, N> step;
  };
  std::vector<StridedAxis> axes;  // innermost first; axes that are contiguous for all operands are merged
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return;
    if (shape[i] == 1) continue;
    StridedAxis axis{shape[i], {}};
    for (size_t k = 0; k < N; ++k) axis.step[k] = (*steps[k])[i];
    bool joins = !axes.empty();
    for (size_t k = 0; joins && k < N; ++k) joins = axis.step[k] == axes.back().step[k] * axes.back().size;
    if (joins)
      axes.back().size *= axis.size;
    else
      axes.push_back(axis);
  }
  if (axes.empty()) axes.push_back({1, {}});
  std::vector<int64_t> index(axes.size(), 0);
  for (;;) {
    row(axes[0].size, at, axes[0].step);
    size_t d = 1;
    for (; d < axes.size(); ++d) {
      for (size_t k = 0; k < N; ++k) at[k] += axes[d].step[k];
      if (++index[d] < axes[d].size) break;
      for (size_t k = 0; k < N; ++k) at[k] -= axes[d].step[k] * axes[d].size;
      index[d] = 0;
    }
    if (d == axes.size()) return;
  }
}

}  // namespace sinter::runtime
