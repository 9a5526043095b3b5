#include "tensor/jit/call_sizes.h"

#include <algorithm>

#include "ir/contains.h"
#include "tensor/core/operands.h"

namespace sinter::tensor {

CallSizes::CallSizes(std::span<const Tensor> inputs, std::span<const Dim> given) {
  for (const Tensor& t : inputs)
    for (const Dim& d : node_of(t)->shape) add(d);
  for (const Dim& d : given) add(d);
}

void CallSizes::add(const Dim& dim) {
  if (dim.symbolic() && !contains(all_, dim)) all_.push_back(dim);
}

CapturedSize CallSizes::capture(const Dim& dim) const {
  const auto found = dim.symbolic() ? std::ranges::find(all_, dim) : all_.end();
  return {dim, found == all_.end() ? -1 : static_cast<int32_t>(found - all_.begin())};
}

CapturedShape CallSizes::capture(const Shape& shape) const {
  return mapped<CapturedShape>(shape, [&](const Dim& d) { return capture(d); });
}

Shape CallSizes::at(const CapturedShape& shape) const {
  return mapped<Shape>(shape, [&](const CapturedSize& s) { return at(s); });
}

bool CallSizes::match(const CapturedShape& shape, std::span<const Dim> dims) const {
  return std::equal(shape.begin(), shape.end(), dims.begin(), dims.end(), [&](const CapturedSize& s, const Dim& d) {
    if (s.number < 0) return s.dim == d;
    return d.symbolic() && d.var() == s.dim.var() && static_cast<size_t>(s.number) < all_.size() && all_[s.number] == d;
  });
}

}  // namespace sinter::tensor
