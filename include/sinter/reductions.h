// Reductions as functions. The methods of Tensor do the same.
#pragma once

#include <optional>
#include <utility>

#include "sinter/tensor.h"

namespace sinter::inline v0 {

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
/// The largest elements along one axis, and where they stand: Tensor::max.
template <Integer I>
Extremum max(const Tensor& x, I axis, bool keepdim = false, Loc where = Loc::current()) {
  return x.max(axis, keepdim, where);
}
/// The smallest elements along one axis, and where they stand: Tensor::min.
template <Integer I>
Extremum min(const Tensor& x, I axis, bool keepdim = false, Loc where = Loc::current()) {
  return x.min(axis, keepdim, where);
}
/// maximum(a, b), by PyTorch's other name for it. A template, so that braces are axes.
template <std::derived_from<Tensor> A, std::derived_from<Tensor> B>
Tensor max(const A& a, const B& b, Loc where = Loc::current()) {
  return a.maximum(b, where);
}
/// minimum(a, b).
template <std::derived_from<Tensor> A, std::derived_from<Tensor> B>
Tensor min(const A& a, const B& b, Loc where = Loc::current()) {
  return a.minimum(b, where);
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

}  // namespace sinter::inline v0
