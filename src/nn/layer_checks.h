// Checks that layers share; each throws a UsageError at the layer's caller.
#pragma once

#include <string>
#include <string_view>

#include "sinter/tensor.h"

namespace sinter {
inline namespace v0 {
namespace nn {

/// Sizes of a layer are at least 1, and so many that a few times as many can be counted.
void require_size(std::string_view what, int64_t value, Loc where);
/// A UsageError of the outermost CallScope: of the layer, or of the Sequential around it.
[[noreturn]] void refuse(const std::string& what);
/// The last axes of x, which is `what` of the layer, must be `sizes`; refuse() otherwise.
void require_last(const Tensor& x, const Shape& sizes, std::string_view layer, std::string_view what = "input");

}  // namespace nn
}  // namespace v0
}  // namespace sinter
