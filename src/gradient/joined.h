// What many products give to a factor that they share, as few products.
#pragma once

#include <span>
#include <vector>

#include "uop/graph.h"

namespace sinter::autodiff {

/// Gradients whose sum is that of `parts`, the gradients of one value. A weight that a loop uses at each of its steps
/// gets a product from each: products that differ in their factors only are joined, the factors stacked along an axis
/// more that is summed over. All have the shape of the parts.
std::vector<ir::UOp> joined(std::span<const ir::UOp> parts);

}  // namespace sinter::autodiff
