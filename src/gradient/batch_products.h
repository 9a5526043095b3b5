// Batches the matrix products that add up to the gradient of one value.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace sinter::autodiff {

/// Gradients that add up to the same sum as `parts`, the gradients of one value, in the same shape. A weight that a
/// loop uses in every step gets one product per step. Products that differ only in their factors become one: the
/// factors are stacked along a new axis, which the product sums over. Done where stacking copies no more than the
/// products would store. Products that go to slices of their own of the value, and differ in one factor only, become
/// one as well: that factor is stacked, and the step axis stays. The slices must be of one size, disjoint, and follow
/// each other at equal distances; other products stay as they are.
std::vector<ir::UOp> batch_products(std::span<const ir::UOp> parts);

}  // namespace sinter::autodiff
