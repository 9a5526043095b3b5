// One function per movement op.
#include "schedule/simplify/strides.h"

#include <algorithm>

#include "ir/axis_lists.h"
#include "sinter/error.h"

namespace sinter::schedule {
namespace {

/// RESHAPE where groups of axes correspond. The last axis of a group keeps its stride, unless it holds more than the
/// last axis did; the others follow if the group is contiguous.
Strides reshaped(const Strides& in, const Shape& from, const Shape& to) {
  Strides out(to.rank(), kNoStride);
  size_t i = from.rank(), j = to.rank();
  while (i > 0 && j > 0) {
    size_t i_end = i, j_end = j;
    int64_t a = from[--i].bound(), b = to[--j].bound();
    while (a != b) {
      if (a < b) {
        if (i == 0) return out;
        a *= from[--i].bound();
      } else {
        if (j == 0) return out;
        b *= to[--j].bound();
      }
    }
    // One group: [i, i_end) became [j, j_end). Find its inner stride and whether it is contiguous.
    int64_t step = 0, span = 1, last = 1;
    bool line = true;
    for (size_t k = i_end; k-- > i;) {
      if (from[k] == 1) continue;
      if (span == 1) step = in[k], last = from[k].bound();
      line &= in[k] >= 0 && in[k] == step * span;
      span *= from[k].bound();
    }
    span = 1;
    for (size_t k = j_end; k-- > j;) {
      if (to[k] == 1) {
        out[k] = 0;
        continue;
      }
      const bool first = span == 1;
      out[k] = line                                    ? step * span
               : first && to[k].bound() <= last        ? step
               : first && step == 1 && last >= kMinRun ? kUnitRuns
                                                       : kNoStride;
      span *= to[k].bound();
    }
  }
  for (size_t k = 0; k < j; ++k) out[k] = 0;  // only axes of size 1 are left
  return out;
}

}  // namespace

Strides row_major(const Shape& shape) {
  Strides out(shape.rank());
  int64_t step = 1;
  for (size_t i = shape.rank(); i-- > 0;) {
    out[i] = shape[i] == 1 ? 0 : step;
    step *= shape[i].bound();
  }
  return out;
}

Strides strides_after(UOp n, const Strides& in) {
  switch (n->op) {
    case Op::Reshape: return reshaped(in, n->src[0]->shape, n->shape);
    case Op::Permute: {
      Strides out(n->rank());
      for (size_t i = 0; i < out.size(); ++i) out[i] = in[n->ints()[i]];
      return out;
    }
    case Op::Expand: return ir::with_axes(in, n->ints(), [](int64_t) { return 0; });
    case Op::Shrink:
    case Op::Pad: {
      Strides out = in;
      for (size_t i = 0; i < out.size(); ++i)
        if (n->shape[i] == 1 || n->src[0]->shape[i] == 1) out[i] = 0;
      return out;
    }
    case Op::Flip: {
      Strides out = in;
      for (int64_t a : n->ints())
        if (out[a] != 0) out[a] = kNoStride;
      return out;
    }
    case Op::Window: {
      Strides out = in;
      const ir::WindowAttr& w = n->get<ir::WindowAttr>();
      const auto axis = static_cast<size_t>(w.axis);
      const int64_t place = out[axis];
      int64_t& tap = out[axis + 1];
      tap = place < 0 || tap < 0 ? kNoStride : std::max(tap + place * w.step, kNoStride);
      for (size_t i : {axis, axis + 1})
        if (n->shape[i] == 1) out[i] = 0;
      return out;
    }
    default: throw InternalError("strides of an op that moves nothing");
  }
}

Strides strides_of_view(UOp view) {
  std::vector<UOp> movements;
  for (; ir::is_movement(view->op); view = view->src[0]) movements.push_back(view);
  Strides strides = row_major(view->shape);
  for (size_t i = movements.size(); i-- > 0;) strides = strides_after(movements[i], strides);
  return strides;
}

}  // namespace sinter::schedule
