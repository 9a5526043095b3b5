// What many products give to a factor that they share, as few products.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace sinter::autodiff {

/// Gradients whose sum is that of `parts`, the gradients of one value. A weight that a loop uses at each of its steps
/// gets a product from each: products that differ only in their factors are joined, the factors stacked along one more
/// axis that is summed over, where that copies less than the products would store. All have the shape of the parts.
std::vector<ir::UOp> batch_products(std::span<const ir::UOp> parts);

}  // namespace sinter::autodiff
