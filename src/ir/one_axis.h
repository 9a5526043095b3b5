// What concerns one axis of a tensor: a part of it, and other axes in its place.
#pragma once

#include <initializer_list>
#include <vector>

#include "ir/build.h"

namespace sinter::ir {

/// The elements [begin, end) along one axis.
inline UOp shrink_axis(UOp x, size_t axis, int64_t begin, int64_t end) {
  Region box = full_region(x->shape);
  box[axis] = {begin, end};
  return shrink(x, box);
}
/// The shape with `dims`, a list of sizes, in place of one axis.
template <class Dims = std::initializer_list<Dim>>
Shape replace_axis(const Shape& shape, size_t axis, const Dims& dims) {
  std::vector<Dim> out(shape.begin(), shape.end());
  const auto at = out.erase(out.begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(at, dims.begin(), dims.end());
  return Shape(out);
}

}  // namespace sinter::ir
