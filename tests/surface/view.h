// Equal values in memory of another layout.
#pragma once

#include "surface/row.h"

namespace surface {

/// A tensor's values, seen in memory that holds their axes in reverse order, each of them backwards, within a border of
/// other values. With `differentiated` that memory is a leaf, and so the view has a gradient.
Tensor as_view(const Tensor& x, bool differentiated = false);

}  // namespace surface
