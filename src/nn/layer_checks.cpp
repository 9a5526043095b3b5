// Error messages shared by layers.
#include "nn/layer_checks.h"

#include "tensor/core/cell.h"

namespace sinter::inline v0::nn {

using namespace tensor;

void require_size(std::string_view what, int64_t value, Loc where) {
  if (value <= 0) usage_error_at(where, "{} is {}; sizes of a layer are at least 1", what, value);
  if (value > Shape::kMaxElements)
    usage_error_at(where, "{} is {}; no tensor has more than 2^56 elements", what, value);
}

void require_last(const Tensor& x, const Shape& sizes, std::string_view layer, std::string_view what) {
  bool ok = x.rank() >= static_cast<int64_t>(sizes.rank());
  for (size_t i = 0; ok && i < sizes.rank(); ++i) ok = x.shape()[x.shape().rank() - sizes.rank() + i] == sizes[i];
  if (!ok)
    usage_error("the {} of {} has shape {}; its last axes must be {}: reshape it, or build the layer for this size",
                what, layer, to_string(x.shape()), to_string(sizes));
}

}  // namespace sinter::inline v0::nn
