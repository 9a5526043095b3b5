// Batches the matrix products that add up to the gradient of one shared factor.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace sinter::autodiff {

/// Gradients that add up to the same sum as `parts`, the gradients of one value, in the same shape. A weight that a
/// loop uses in every step gets one product per step. Products that differ only in their factors become one: the
/// factors are stacked along a new axis, which the product sums over. Done where stacking copies no more than the
/// products would store.
std::vector<ir::UOp> batch_products(std::span<const ir::UOp> parts);

}  // namespace sinter::autodiff
