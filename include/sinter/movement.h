// Parts, other shapes, joins and rearrangements of tensors. Operators and methods are in tensor.h.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sinter/call.h"
#include "sinter/choice.h"
#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup views Parts and other shapes
/// Movement of one tensor: lazy, exact, and of the tensor's type. Functions that are methods too do the same. Axes
/// count from the end if they are negative.
/// @snippet movement.cpp views
/// @{

/// Tensor::reshape.
inline Tensor reshape(const Tensor& x, Shape shape, Loc where = Loc::current()) {
  return x.reshape(std::move(shape), where);
}
/// Tensor::flatten.
inline Tensor flatten(const Tensor& x, int64_t first = 0, int64_t last = -1, Loc where = Loc::current()) {
  return x.flatten(first, last, where);
}
/// One axis with all elements in row-major order.
Tensor ravel(const Tensor& x, Loc where = Loc::current());
/// Splits one axis into several; their sizes multiply to its size (UsageError). One of them may be -1.
Tensor unflatten(const Tensor& x, int64_t axis, const Shape& sizes, Loc where = Loc::current());
/// x in the shape of `like`.
Tensor reshape_as(const Tensor& x, const Tensor& like, Loc where = Loc::current());
/// The same, by PyTorch's other name. No memory is shared: values are never views (docs/semantics.md, V).
Tensor view_as(const Tensor& x, const Tensor& like, Loc where = Loc::current());

/// Tensor::permute.
inline Tensor permute(const Tensor& x, std::vector<int64_t> order, Loc where = Loc::current()) {
  return x.permute(std::move(order), where);
}
/// Tensor::transpose.
inline Tensor transpose(const Tensor& x, int64_t a = -2, int64_t b = -1, Loc where = Loc::current()) {
  return x.transpose(a, b, where);
}
/// Swaps two axes, as transpose().
Tensor swapaxes(const Tensor& x, int64_t a, int64_t b, Loc where = Loc::current());
/// The transposed matrix; scalars and vectors stay. UsageError for more than 2 axes.
Tensor t(const Tensor& x, Loc where = Loc::current());
/// Tensor::movedim.
inline Tensor movedim(const Tensor& x, int64_t from, int64_t to, Loc where = Loc::current()) {
  return x.movedim(from, to, where);
}
/// Moves axis from[i] to position to[i]; the others keep their order. Both lists have one length and name each axis
/// once (UsageError).
Tensor movedim(const Tensor& x, const std::vector<int64_t>& from, const std::vector<int64_t>& to,
               Loc where = Loc::current());

/// Tensor::squeeze.
inline Tensor squeeze(const Tensor& x, Axes axes = all_axes, Loc where = Loc::current()) {
  return x.squeeze(std::move(axes), where);
}
/// Tensor::unsqueeze.
inline Tensor unsqueeze(const Tensor& x, int64_t axis, Loc where = Loc::current()) { return x.unsqueeze(axis, where); }
/// At least one axis: a scalar becomes [1].
Tensor atleast_1d(const Tensor& x, Loc where = Loc::current());
/// At least two axes: a scalar becomes [1, 1], a vector [1, n].
Tensor atleast_2d(const Tensor& x, Loc where = Loc::current());
/// At least three axes: a scalar becomes [1, 1, 1], a vector [1, n, 1], a matrix [m, n, 1].
Tensor atleast_3d(const Tensor& x, Loc where = Loc::current());
/// Tensor::expand.
Tensor broadcast_to(const Tensor& x, const Shape& shape, Loc where = Loc::current());
/// x repeated to the shape of `like`.
Tensor expand_as(const Tensor& x, const Tensor& like, Loc where = Loc::current());

/// `length` elements of one axis from `start` on; a negative start counts from the end. UsageError unless all of them
/// exist. The length may be symbolic: then the elements at its largest value must exist.
Tensor narrow(const Tensor& x, int64_t axis, int64_t start, const Dim& length, Loc where = Loc::current());
/// The same from the value of a tensor on, one integer: another value is no other program, in jit() too. If not all
/// elements exist, the first host read throws. See Narrow for writing there.
Tensor narrow(const Tensor& x, int64_t axis, const Tensor& start, const Dim& length, Loc where = Loc::current());
/// Element `index` of one axis, which is dropped.
Tensor select(const Tensor& x, int64_t axis, int64_t index, Loc where = Loc::current());
/// select() for each element of an axis.
std::vector<Tensor> unbind(const Tensor& x, int64_t axis = 0, Loc where = Loc::current());
/// Tensor::split: parts of one size.
template <Integer I>
std::vector<Tensor> split(const Tensor& x, I size, int64_t axis = 0, Loc where = Loc::current()) {
  return x.split(saturated(size), axis, where);
}
/// Parts of the given sizes, which sum to the size of the axis (UsageError).
std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis = 0,
                          Loc where = Loc::current());
/// Tensor::chunk.
inline std::vector<Tensor> chunk(const Tensor& x, int64_t count, int64_t axis = 0, Loc where = Loc::current()) {
  return x.chunk(count, axis, where);
}
/// Splits before each of the indices, as NumPy's array_split: {2, 5} gives [0, 2), [2, 5) and the rest. Negative
/// indices count from the end, others are clamped.
std::vector<Tensor> tensor_split(const Tensor& x, const std::vector<int64_t>& indices, int64_t axis = 0,
                                 Loc where = Loc::current());
/// That many parts, whose sizes differ by at most 1, the larger ones first: NumPy's array_split.
std::vector<Tensor> array_split(const Tensor& x, int64_t sections, int64_t axis = 0, Loc where = Loc::current());
/// The same, by PyTorch's name.
template <Integer I>
std::vector<Tensor> tensor_split(const Tensor& x, I sections, int64_t axis = 0, Loc where = Loc::current()) {
  const CallScope call("tensor_split", where);
  return array_split(x, saturated(sections), axis, where);
}
/// tensor_split() along axis 1, of a vector along axis 0.
std::vector<Tensor> hsplit(const Tensor& x, const std::vector<int64_t>& indices, Loc where = Loc::current());
/// The same into that many parts.
template <Integer I>
std::vector<Tensor> hsplit(const Tensor& x, I sections, Loc where = Loc::current()) {
  const CallScope call("hsplit", where);
  return array_split(x, saturated(sections), x.rank(where) == 1 ? 0 : 1, where);
}
/// tensor_split() along axis 0.
std::vector<Tensor> vsplit(const Tensor& x, const std::vector<int64_t>& indices, Loc where = Loc::current());
/// The same into that many parts.
template <Integer I>
std::vector<Tensor> vsplit(const Tensor& x, I sections, Loc where = Loc::current()) {
  const CallScope call("vsplit", where);
  return array_split(x, saturated(sections), 0, where);
}
/// @}

/// @defgroup joining Joining
/// Parts are promoted to one type and keep -0.0 and NaN.
/// @snippet movement.cpp joining
/// @{

/// Joins along an existing axis; the other sizes must be equal (UsageError). At least one part.
Tensor cat(const std::vector<Tensor>& parts, int64_t axis = 0, Loc where = Loc::current());
/// cat(), by NumPy's name.
Tensor concat(const std::vector<Tensor>& parts, int64_t axis = 0, Loc where = Loc::current());
/// Joins along a new axis; all shapes must be equal (UsageError). At least one part.
Tensor stack(const std::vector<Tensor>& parts, int64_t axis = 0, Loc where = Loc::current());
/// Joins side by side: along axis 1, vectors along axis 0.
Tensor hstack(const std::vector<Tensor>& parts, Loc where = Loc::current());
/// Joins along axis 0, after atleast_2d() of each.
Tensor vstack(const std::vector<Tensor>& parts, Loc where = Loc::current());
/// Joins along axis 2, after atleast_3d() of each.
Tensor dstack(const std::vector<Tensor>& parts, Loc where = Loc::current());
/// Joins as columns: vectors become matrices of one column, then hstack().
Tensor column_stack(const std::vector<Tensor>& parts, Loc where = Loc::current());
/// All operands broadcast to their common shape; types stay.
std::vector<Tensor> broadcast(const std::vector<Tensor>& operands, Loc where = Loc::current());

/// The order of the first two axes of meshgrid().
enum class GridOrder : uint8_t {
  IJ,  ///< the first vector runs along axis 0: rows, then columns
  XY   ///< the first vector runs along axis 1, the second along axis 0: x, then y
};
/// The coordinates of a grid: for each vector (or scalar) a tensor of the grid's shape in which it runs along its own
/// axis. Types stay.
std::vector<Tensor> meshgrid(const std::vector<Tensor>& vectors, Choice<GridOrder> order = GridOrder::IJ,
                             Loc where = Loc::current());
/// All combinations of elements of the vectors, a row each, the last running fastest: [n1 * n2 * .., k]. One vector is
/// returned itself.
Tensor cartesian_prod(const std::vector<Tensor>& vectors, Loc where = Loc::current());
/// @}

/// @defgroup rearranging Rearranging
/// Lazy and exact: elements are moved and repeated, and computed with in trace and diff alone. Types stay.
/// @snippet movement.cpp rearranging
/// @{

/// Tensor::flip.
inline Tensor flip(const Tensor& x, Axes axes = all_axes, Loc where = Loc::current()) {
  return x.flip(std::move(axes), where);
}
/// Reverses axis 1. At least 2 axes (UsageError).
Tensor fliplr(const Tensor& x, Loc where = Loc::current());
/// Reverses axis 0. At least 1 axis (UsageError).
Tensor flipud(const Tensor& x, Loc where = Loc::current());
/// Moves elements `shift` places along the axis, and those that leave it back in at its other end. Without an axis,
/// along the flattened tensor.
Tensor roll(const Tensor& x, int64_t shift, std::optional<int64_t> axis = {}, Loc where = Loc::current());
/// The same along several axes, one shift for each.
Tensor roll(const Tensor& x, const std::vector<int64_t>& shifts, const std::vector<int64_t>& axes = {},
            Loc where = Loc::current());
/// Rotates by `times` quarter turns from the first axis towards the second; the axes are two different ones
/// (UsageError).
Tensor rot90(const Tensor& x, int64_t times = 1, const std::vector<int64_t>& axes = {0, 1}, Loc where = Loc::current());

/// x repeated counts[i] times along axis i. More counts than axes add leading axes; fewer are a UsageError.
Tensor repeat(const Tensor& x, const std::vector<int64_t>& counts, Loc where = Loc::current());
/// repeat() that takes fewer counts too: they are for the last axes.
Tensor tile(const Tensor& x, const std::vector<int64_t>& counts, Loc where = Loc::current());
/// Each element `count` times in a row along the axis. Without an axis, of the flattened tensor.
Tensor repeat_interleave(const Tensor& x, int64_t count, std::optional<int64_t> axis = {}, Loc where = Loc::current());
/// Element i repeats[i] times: `repeats` is a vector of integers, of the size of the axis or of 1. The size of the
/// result depends on the data. With `output_size`, which must be the sum of the repeats, nothing is read; an index out
/// of range at the first host read tells that it is not. Without, the call synchronizes: it computes and reads
/// `repeats`, and is a UsageError inside jit().
Tensor repeat_interleave(const Tensor& x, const Tensor& repeats, std::optional<int64_t> axis = {},
                         std::optional<int64_t> output_size = {}, Loc where = Loc::current());

/// The elements x[.., i, .., i + offset, ..] of axes a and b, as a new last axis; the two axes are dropped. A negative
/// offset is below the main diagonal.
Tensor diagonal(const Tensor& x, int64_t offset = 0, int64_t a = 0, int64_t b = 1, Loc where = Loc::current());
/// Matrices with the last axis of x on a diagonal and 0 elsewhere; a and b are their axes in the result.
Tensor diag_embed(const Tensor& x, int64_t offset = 0, int64_t a = -2, int64_t b = -1, Loc where = Loc::current());
/// The diagonal of a matrix, or the matrix with a vector on its diagonal. UsageError for other ranks.
Tensor diag(const Tensor& x, int64_t offset = 0, Loc where = Loc::current());
/// The sum of the diagonal of a matrix; types as in Tensor::sum.
Tensor trace(const Tensor& x, Loc where = Loc::current());
/// Matrices with 0 below the diagonal `offset` of the last two axes.
Tensor triu(const Tensor& x, int64_t offset = 0, Loc where = Loc::current());
/// Matrices with 0 above the diagonal `offset` of the last two axes.
Tensor tril(const Tensor& x, int64_t offset = 0, Loc where = Loc::current());
/// int64 [2, count]: rows and columns of the elements that triu() keeps, in row-major order.
Tensor triu_indices(int64_t rows, int64_t columns, int64_t offset = 0, Device device = default_device(),
                    Loc where = Loc::current());
/// The same for tril().
Tensor tril_indices(int64_t rows, int64_t columns, int64_t offset = 0, Device device = default_device(),
                    Loc where = Loc::current());

/// x[i + 1] - x[i] along the axis, n times; on bools whether they differ. `before` and `after`, if given, are joined to
/// x first. PyTorch's diff, whose prepend and append they are.
Tensor diff(const Tensor& x, int64_t n = 1, int64_t axis = -1, const Tensor& before = {}, const Tensor& after = {},
            Loc where = Loc::current());
/// @}

}  // namespace sinter::inline v0
