// Checks shared by layers. Each throws a UsageError at the caller of the layer.
#pragma once

#include <string_view>

#include "sinter/tensor.h"

namespace sinter::inline v0::nn {

struct TransformerOptions;

/// The size of a layer must be at least 1, and small enough that a few times as many elements can be counted.
void require_size(std::string_view what, int64_t value, Loc where);
/// `size`, after the arguments of `layer`, which contains attention, were checked: its submodules would report errors
/// under their own names.
int64_t checked_attention(std::string_view layer, int64_t size, int64_t heads, const TransformerOptions& options,
                          Loc where);
/// Requires that the last axes of x, which is `what` of the layer, have the sizes `sizes`.
void require_last(const Tensor& x, const Shape& sizes, std::string_view layer, std::string_view what = "input");

}  // namespace sinter::inline v0::nn
