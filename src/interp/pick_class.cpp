// Gather and Scatter. Every index is checked (SEMANTICS F6).
#include "interp/interpreter.h"
#include "interp/op_classes.h"
#include "ir/scalar_eval.h"

namespace sinter::runtime {

int64_t position_of(ir::Scalar index, DType dtype, int64_t size) {
  int64_t i = index.as_int();
  if (i < 0 && !is_unsigned(dtype)) i += size;
  return 0 <= i && i < size ? i : -1;
}

namespace {

/// Calls visit(row-major position in `index`, offset of the picked element in the table). The offset follows the
/// table's strides and is -1 if the index is out of range.
template <class Visit>
void for_picks(const StridedView& index, const std::vector<int64_t>& step, int64_t offset, int64_t axis, int64_t size,
               Visit visit) {
  const auto a = static_cast<size_t>(axis);
  std::vector<int64_t> others = step;  // the index gives the position along the axis
  others[a] = 0;
  const int64_t width = static_cast<int64_t>(size_of(index.dtype));
  int64_t position = 0;
  for_rows<2>(
      index.shape, {&index.stride, &others}, {index.offset, offset}, [&](int64_t n, const auto& at, const auto& by) {
        const std::byte* from = index.address(at[0]);
        for (int64_t i = 0; i < n; ++i) {
          const int64_t picked = position_of(load_scalar(index.dtype, from + i * by[0] * width), index.dtype, size);
          visit(position++, picked < 0 ? -1 : at[1] + i * by[1] + picked * step[a]);
        }
      });
}

}  // namespace

Array gather_view(const StridedView& x, const StridedView& index, int64_t axis, bool& error) {
  Array out(x.dtype, index.shape);
  for_picks(index, x.stride, x.offset, axis, x.shape[axis], [&](int64_t i, int64_t at) {
    if (at >= 0)
      out.set(i, load_scalar(x.dtype, x.address(at)));
    else
      error = true;
  });
  return out;
}

Array scatter_view(const StridedView& base, const StridedView& index, const StridedView& value,
                   const ir::ScatterAttr& attr, bool& error) {
  Array out = base.copy();
  const Array values = value.copy();
  const auto size = out.shape[attr.axis];
  for_picks(index, row_major(out.shape), 0, attr.axis, size, [&](int64_t i, int64_t at) {
    if (at < 0) {
      error = true;
      return;
    }
    out.set(at, ir::updated(attr.mode, out.dtype, out.at(at), values.at(i)));
  });
  return out;
}

}  // namespace sinter::runtime
