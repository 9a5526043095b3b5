// Running sums and the like along an axis.
#pragma once

#include "sinter/ranked.h"
#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup scans Scans
/// @snippet reductions.cpp scans
/// @{

/// Cumulative sums along the axis, each including its own element. Types as in Tensor::sum(). Rows of up to 4,096
/// elements are added in order, longer ones in blocks (SEMANTICS F9). Sums of numbers >= 0 never decrease.
Tensor cumsum(Arg x, int64_t axis);
/// Cumulative products along the axis, each including its own element. Types as in Tensor::prod(). The gradient
/// divides by nothing, so elements may be 0.
Tensor cumprod(Arg x, int64_t axis);
/// log(sum(exp(x))) of the elements up to each one along the axis, without overflow. Integers are computed in float32.
Tensor logcumsumexp(Arg x, int64_t axis);

/// The largest element so far along the axis, and its index. Of equal elements the last one is taken, and it alone gets
/// their gradient. A NaN is larger than all else.
Ranked cummax(Arg x, int64_t axis);
/// The smallest element so far along the axis, and its index, as in cummax(). A NaN is smaller than all else.
Ranked cummin(Arg x, int64_t axis);

/// The integral of y along the axis, by trapezoids of width dx. Integers are computed in float32; the size of the axis
/// is fixed.
Tensor trapezoid(Arg y, double dx = 1, int64_t axis = -1);
/// The same at the places x: as many as y has along the axis, or what broadcasts to one for each element of y.
Tensor trapezoid(Arg y, Arg x, int64_t axis = -1);
/// The integrals from the first place along the axis to each later one, by trapezoids of width dx.
Tensor cumulative_trapezoid(Arg y, double dx = 1, int64_t axis = -1);
/// The same at the places x: as many as y has along the axis, or what broadcasts to one for each element of y.
Tensor cumulative_trapezoid(Arg y, Arg x, int64_t axis = -1);
/// @}

}  // namespace sinter::inline v0
