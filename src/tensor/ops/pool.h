// Reductions over windows, shared by pooling and adaptive pooling.
#pragma once

#include <optional>
#include <vector>

#include "ir/build.h"
#include "ir/combine.h"
#include "tensor/ops/windows.h"

namespace sinter::tensor {

/// The largest elements, and their int64 positions in the sliding axes, row-major.
struct MaxPooled {
  ir::UOp value, place;
};
/// Of the windows of x, [batch, channels, sliding axes]. Errors name `given`.
MaxPooled max_over_windows(ir::UOp x, const std::vector<WindowAxis>& sliding, ir::UOp given);

/// The sum over each window, divided by `divisor` or by the number of elements, with padding (without `more_after`) if
/// count_padding.
ir::UOp mean_over_windows(ir::UOp x, const std::vector<WindowAxis>& sliding, ir::UOp given, bool count_padding,
                          std::optional<int64_t> divisor);

}  // namespace sinter::tensor
