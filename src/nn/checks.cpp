// Texts of the errors that layers share.
#include "nn/checks.h"

#include <fmt/core.h>

namespace sinter {
inline namespace v0 {
namespace nn {

void require_size(std::string_view what, int64_t value, Loc where) {
  if (value <= 0) throw UsageError(fmt::format("{} is {}; sizes of a layer are at least 1", what, value), where);
}

/// The last axes of x must be `sizes`.
void require_last(const Tensor& x, const Shape& sizes, std::string_view layer, Loc where) {
  bool ok = x.rank() >= static_cast<int64_t>(sizes.rank());
  for (size_t i = 0; ok && i < sizes.rank(); ++i) ok = x.shape()[x.shape().rank() - sizes.rank() + i] == sizes[i];
  if (!ok)
    throw UsageError(
        fmt::format(
            "{}: the last axes of the input of shape {} must be {}; reshape it or build the layer for this size", layer,
            to_string(x.shape()), to_string(sizes)),
        where);
}

}  // namespace nn
}  // namespace v0
}  // namespace sinter
