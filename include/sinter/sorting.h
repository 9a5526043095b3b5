// Sorting, selection by rank, and what is made of sorted values.
#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include "sinter/ranked.h"
#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup sorting Sorting
/// Sorts are stable: equal elements keep their order, also descending. NaN is the largest number, and -0 equals 0. The
/// axis that is sorted has a fixed size below 2^31. Gradients flow to the elements that were taken.
/// @snippet sorting.cpp sorting
/// @{

/// The elements in order along the axis. `stable` is there for PyTorch's sake.
Ranked sort(Arg x, int64_t axis = -1, bool descending = false, bool stable = true);
/// The indices of sort(). int64.
Tensor argsort(Arg x, int64_t axis = -1, bool descending = false, bool stable = true);
/// No axis: sort(x, -1, true) descends.
template <std::same_as<bool> B>
Ranked sort(const Tensor&, B) = delete;
template <std::same_as<bool> B>
Tensor argsort(const Tensor&, B) = delete;  ///< argsort(x, -1, true) descends
/// The values of sort() along the first axis.
Tensor msort(Arg x);
/// The k largest or smallest elements along the axis, in order; `sorted` is there for PyTorch's sake. UsageError unless
/// 0 <= k <= the size of the axis.
Ranked topk(Arg x, int64_t k, int64_t axis = -1, bool largest = true, bool sorted = true);
/// The k-th smallest element along the axis, k from 1. The axis is dropped, or kept with size 1. UsageError unless
/// 1 <= k <= the size of the axis.
Ranked kthvalue(Arg x, int64_t k, int64_t axis = -1, bool keepdim = false);

/// The median of all elements; of an even number, the lower of both in the middle. NaN if any is. UsageError for no
/// elements.
Tensor median(Arg x);
/// The median along the axis, which is dropped, or kept with size 1. If an element is NaN, the first NaN.
Ranked median(Arg x, int64_t axis, bool keepdim = false);
/// The same without the elements that are NaN; NaN if all are.
Tensor nanmedian(Arg x);
Ranked nanmedian(Arg x, int64_t axis, bool keepdim = false);  ///< the same along the axis
/// The most frequent element along the axis, the smallest of several, and the last of its places. NaN equals nothing.
Ranked mode(Arg x, int64_t axis = -1, bool keepdim = false);

/// What a quantile between two elements is.
enum class Interpolation : uint8_t {
  Linear,    ///< a weighted mean of both
  Lower,     ///< the lower one
  Higher,    ///< the higher one
  Nearest,   ///< the nearer one; halfway, the one of even rank
  Midpoint,  ///< the mean of both
};
/// The elements of rank q * (n - 1) along the axis, or of all n elements. q is a number in 0 to 1, or a float tensor of
/// such numbers: of shape [], or of shape [k], which is then the first axis of the result. NaN if any element is.
/// Floats only.
Tensor quantile(Arg x, Arg q, std::optional<int64_t> axis = {}, bool keepdim = false,
                Choice<Interpolation> interpolation = Interpolation::Linear);
/// The same without the elements that are NaN; NaN if all are.
Tensor nanquantile(Arg x, Arg q, std::optional<int64_t> axis = {}, bool keepdim = false,
                   Choice<Interpolation> interpolation = Interpolation::Linear);

/// Where each value belongs in `sorted`, so that the order stays: before equal elements, or behind them (`right`).
/// `sorted` ascends along its last axis, and has one axis, or the others of `values`. int64, or int32 with `out_int32`.
Tensor searchsorted(Arg sorted, Arg values, bool out_int32 = false, bool right = false);
/// The number of the interval between `boundaries`, which ascend, that holds each element: searchsorted(boundaries, x).
Tensor bucketize(Arg x, Arg boundaries, bool out_int32 = false, bool right = false);
/// bool, in the shape of `elements`: whether each is among the others; if `invert`, whether it is not. NaN is not.
/// `assume_unique` changes nothing.
Tensor isin(Arg elements, Arg among, bool assume_unique = false, bool invert = false);
/// @}

/// @defgroup counting Counting
/// The sizes of unique() and bincount() depend on the values: the call computes and reads one number. It is refused
/// under jit().
/// @snippet sorting.cpp counting
/// @{

/// Different elements: `auto [values, inverse, counts] = unique(x)`. What is not used is not computed.
struct Distinct {
  Tensor values;   ///< the elements, one axis
  Tensor inverse;  ///< int64, in the shape of the operand: the place of each element among `values`
  Tensor counts;   ///< int64, how often each of `values` occurs
};
/// The different elements, ascending. NaN equals nothing.
Distinct unique(Arg x);
/// The same with PyTorch's flags, which change nothing: the elements ascend, and all parts are given. A template of
/// exactly bool: an integer is no flag, and unique() along an axis is not there.
template <std::same_as<bool> Flag>
Distinct unique(Arg x, Flag sorted, bool return_inverse = false, bool return_counts = false) {
  static_cast<void>(sorted && return_inverse && return_counts);
  return unique(x);
}
template <std::same_as<bool> Flag>
Distinct TensorMethods::unique(Flag sorted, bool return_inverse, bool return_counts, Loc where) const {
  static_cast<void>(sorted && return_inverse && return_counts);
  return unique(where);
}
/// The elements in row-major order, without repeats of the one before.
Distinct unique_consecutive(Arg x);
/// int64: how often each of 0, 1, ... occurs among the integers, which have one axis and are not negative. At least
/// `least` counts.
Tensor bincount(const Tensor& x, int64_t least = 0, Loc where = Loc::current());
/// The sums of the weights of equal integers; integer weights are added in float64.
Tensor bincount(const Tensor& x, const Tensor& weights, int64_t least = 0, Loc where = Loc::current());

/// Counts of elements in bins.
struct Histogram {
  Tensor counts;  ///< in the type of the elements
  Tensor edges;   ///< the limits of the bins, one more
};
/// Counts in `bins` bins of equal width between `low` and `high`, or between the least and the largest element if both
/// are 0; equal limits are moved apart by 1 on either side. A bin includes its lower edge, the last one both. Elements
/// outside and NaN are not counted. Floats only.
Tensor histc(Arg x, int64_t bins = 100, double low = 0, double high = 0);
/// The same with the edges of the bins. Equal limits are moved apart by 0.5 on either side. Without a `range` and
/// without elements they are 0 and 1.
Histogram histogram(Arg x, int64_t bins, std::optional<std::pair<double, double>> range = {});
/// @}

}  // namespace sinter::inline v0
