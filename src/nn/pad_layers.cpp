// The layers of include/sinter/nn/pad_layers.h.
#include "sinter/nn/pad_layers.h"

#include "tensor/core/cell.h"

namespace sinter::inline v0::nn {

using namespace tensor;

std::vector<std::pair<int64_t, int64_t>> PadWidths::pairs(const char* layer, size_t axes, Loc where) const {
  std::vector<std::pair<int64_t, int64_t>> made = pairs_;
  if (made.empty()) made.assign(axes, {all_, all_});
  if (made.size() != axes)
    usage_error_at(where, "{}: {} pairs of widths for {} axes; give one number, or {{before, after}} for each", layer,
                   made.size(), axes);
  for (const auto& [before, after] : made)
    if (before < 0 || after < 0)
      usage_error_at(where, "{}: the widths are {} and {}; they must be at least 0, use slice() to cut", layer, before,
                     after);
  return made;
}

Tensor PadLayer::operator()(const Tensor& x, Loc where) const {
  const OuterCall call(layer_, where);
  return pad(x, widths, mode, value);
}

}  // namespace sinter::inline v0::nn
