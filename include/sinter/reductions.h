// Reductions as functions. The methods of Tensor do the same.
#pragma once

#include <optional>
#include <utility>

#include "sinter/tensor.h"

namespace sinter {
inline namespace v0 {

/// @defgroup reduction_functions Reductions as functions
/// Axes, types and errors are those of the methods of Tensor, which some of them call.
/// @snippet reductions.cpp functions
/// @{

/// Tensor::sum.
inline Tensor sum(const Tensor& x, Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) {
  return x.sum(std::move(axes), keepdim, where);
}
/// Tensor::prod.
inline Tensor prod(const Tensor& x, Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) {
  return x.prod(std::move(axes), keepdim, where);
}
/// Tensor::mean.
inline Tensor mean(const Tensor& x, Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) {
  return x.mean(std::move(axes), keepdim, where);
}
/// Tensor::var.
inline Tensor var(const Tensor& x, Axes axes = all_axes, int64_t correction = 1, bool keepdim = false,
                  Loc where = Loc::current()) {
  return x.var(std::move(axes), correction, keepdim, where);
}
/// Tensor::std.
inline Tensor std(const Tensor& x, Axes axes = all_axes, int64_t correction = 1, bool keepdim = false,
                  Loc where = Loc::current()) {
  return x.std(std::move(axes), correction, keepdim, where);
}
/// Tensor::max.
inline Tensor max(const Tensor& x, Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) {
  return x.max(std::move(axes), keepdim, where);
}
/// Tensor::min.
inline Tensor min(const Tensor& x, Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) {
  return x.min(std::move(axes), keepdim, where);
}
/// Tensor::any.
inline Tensor any(const Tensor& x, Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) {
  return x.any(std::move(axes), keepdim, where);
}
/// Tensor::all.
inline Tensor all(const Tensor& x, Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) {
  return x.all(std::move(axes), keepdim, where);
}
/// Tensor::argmax.
inline Tensor argmax(const Tensor& x, std::optional<int64_t> axis = {}, bool keepdim = false,
                     Loc where = Loc::current()) {
  return x.argmax(axis, keepdim, where);
}
/// Tensor::argmin.
inline Tensor argmin(const Tensor& x, std::optional<int64_t> axis = {}, bool keepdim = false,
                     Loc where = Loc::current()) {
  return x.argmin(axis, keepdim, where);
}

/// The largest element; NaN if any is. Ties share the gradient. PyTorch's amax.
Tensor amax(const Tensor& x, Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current());
/// The smallest element, as amax().
Tensor amin(const Tensor& x, Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current());
/// The smallest and the largest element.
std::pair<Tensor, Tensor> aminmax(const Tensor& x, Axes axes = all_axes, bool keepdim = false,
                                  Loc where = Loc::current());
/// Standard deviation and mean.
std::pair<Tensor, Tensor> std_mean(const Tensor& x, Axes axes = all_axes, int64_t correction = 1, bool keepdim = false,
                                   Loc where = Loc::current());
/// Variance and mean.
std::pair<Tensor, Tensor> var_mean(const Tensor& x, Axes axes = all_axes, int64_t correction = 1, bool keepdim = false,
                                   Loc where = Loc::current());
/// int64: the number of elements that are not 0; NaN counts.
Tensor count_nonzero(const Tensor& x, Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current());
/// The sum of the elements that are not NaN. Types as in Tensor::sum.
Tensor nansum(const Tensor& x, Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current());
/// The mean of the elements that are not NaN; NaN if there are none. Types as in Tensor::mean.
Tensor nanmean(const Tensor& x, Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current());
/// @}

}  // namespace v0
}  // namespace sinter
