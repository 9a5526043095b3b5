// Picking elements by integer tensors, and writing to them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup picking Picking by integer tensors
/// Negative indices count from the end. An index out of range throws at the first host read of a result
/// (docs/semantics.md, F6). An index tensor that is not an integer type is a UsageError.
/// @snippet picking.cpp picking
/// @{

/// out[.., i, ..] = x[.., index[.., i, ..], ..], of the shape of index. x and index have equal ranks; index may be
/// smaller than x along the other axes, as in PyTorch.
Tensor gather(Arg x, int64_t axis, const Tensor& index);
/// gather after x and index are broadcast against each other along all other axes (NumPy's take_along_axis).
Tensor take_along_dim(Arg x, const Tensor& index, int64_t axis);
/// Slices of x along the axis, selected by the 1-D index in its order.
Tensor index_select(Arg x, int64_t axis, const Tensor& index);
/// Elements of x, flattened, of the shape of index.
Tensor take(Arg x, const Tensor& index);
/// Rows of `weight` [n, d]: shape of index + [d].
Tensor embedding(const Tensor& index, const Tensor& weight, Loc where = Loc::current());
/// The same, and the row `padding_idx`, negative from the end, gets no gradient.
Tensor embedding(const Tensor& index, const Tensor& weight, std::optional<int64_t> padding_idx,
                 Loc where = Loc::current());
/// How embedding_bag() joins its rows.
enum class BagMode : uint8_t { Sum, Mean, Max };
/// Options of embedding_bag().
struct EmbeddingBagOptions {
  Choice<BagMode> mode = BagMode::Mean;
  bool include_last_offset = false;         ///< the last offset is the end of the last bag
  std::optional<int64_t> padding_idx = {};  ///< this row is in no bag, and gets no gradient; negative from the end
};
/// Sums, means or largest elements of bags of rows of `weight` [n, d], 0 for an empty bag: [bags, d]. A bag per row of
/// index [bags, k]; or index [k], and bag b begins at offsets[b], ascending from 0. Elements before offsets[0] are in
/// no bag; that is an index out of range, which throws at the first host read. per_sample_weights, of the shape of
/// index, are factors of the rows of a sum. Maxima compare each row with each bag.
Tensor embedding_bag(const Tensor& index, const Tensor& weight, const Tensor& offsets = {},
                     const EmbeddingBagOptions& options = {}, const Tensor& per_sample_weights = {},
                     Loc where = Loc::current());
/// int64, shape of index + [classes]: 1 at the class that index names, 0 to classes - 1. Another throws at the first
/// host read.
Tensor one_hot(const Tensor& index, int64_t classes, Loc where = Loc::current());
/// @}

/// What scatter_reduce makes of an element and its updates.
enum class ScatterReduce : uint8_t {
  Sum,   ///< in order of the updates
  Prod,  ///< in order of the updates
  Mean,  ///< rounded down for integers
  Amax,  ///< NaN if any is
  Amin   ///< NaN if any is
};

/// @defgroup scattering Writing to indexed elements
/// Values, as every function: the base stays as it is. `x.at({...}) = v` writes. Indices are checked as in picking. The
/// result has the common type of base and value; a number is each update. Updates of one element are taken in order, on
/// every device and with every number of threads: of several that set it the last stays, and takes the gradient
/// (PyTorch gives it to all of them). 16-bit floats are computed in float32 and rounded once.
/// @snippet picking.cpp scattering
/// @{

/// base with base[.., index[.., i, ..], ..] += value[.., i, ..], in order of i. index and value have one shape, which
/// may be smaller than base's along the other axes, as in PyTorch.
Tensor scatter_add(Arg base, int64_t axis, const Tensor& index, Arg value);
/// base with base[.., index[.., i, ..], ..] = value[.., i, ..]; shapes as in scatter_add.
Tensor scatter(Arg base, int64_t axis, const Tensor& index, Arg value);
/// Elements of base with the sum, product, mean, largest or smallest of their updates; shapes as in scatter_add.
/// include_self: base's element counts too. One without an update stays. Equal largest or smallest elements share the
/// gradient evenly. UsageError for a mean of bools.
Tensor scatter_reduce(Arg base, int64_t axis, const Tensor& index, Arg value, Choice<ScatterReduce> reduce,
                      bool include_self = true);
/// scatter after index and value are broadcast to x along all other axes: NumPy's, beside take_along_dim.
Tensor put_along_axis(Arg x, const Tensor& index, Arg value, int64_t axis);
/// x with source in the elements that index names of x, flattened; accumulate: added to them. source has as many
/// elements as index, or is a number. What take() reads.
Tensor put(Arg x, const Tensor& index, Arg source, bool accumulate = false);
/// x with alpha * source[.., i, ..] added to its slice index[i] along the axis, in order of i. index has one axis,
/// source the shape of x with as many elements along the axis as index; or it is a number.
Tensor index_add(Arg x, int64_t axis, const Tensor& index, Arg source, Arg alpha = 1);
/// x with slice index[i] replaced by source[.., i, ..]; shapes as in index_add.
Tensor index_copy(Arg x, int64_t axis, const Tensor& index, Arg source);
/// x with slice index[i] joined with source[.., i, ..], in order of i; shapes as in index_add, the rest as in
/// scatter_reduce.
Tensor index_reduce(Arg x, int64_t axis, const Tensor& index, Arg source, Choice<ScatterReduce> reduce,
                    bool include_self = true);
/// x with the number `value` in the slices that the 1-D index names.
Tensor index_fill(Arg x, int64_t axis, const Tensor& index, Arg value);
/// x with `value`, which broadcasts, where x.index({indices...}) would read; accumulate: added to what is there. The
/// indices are integer tensors, which broadcast against each other, and bool masks (read as nonzero reads).
Tensor index_put(Arg x, const std::vector<Tensor>& indices, Arg value, bool accumulate = false);
/// @}

/// @defgroup masks Picking by masks
/// The size of nonzero, argwhere, masked_select and x.index({mask}) depends on the data: they compute and read the mask
/// (a host read; from a GPU the mask is copied), and each new size is a program of its own to what follows. Inside
/// jit() they are a UsageError: use where(mask, x, y), masked_scatter, or sums of x * mask, which need no size.
/// @snippet picking.cpp masks
/// @{

/// The elements of x where the bool mask is true, in row-major order, one axis. They broadcast against each other.
Tensor masked_select(Arg x, const Tensor& mask);
/// x with the elements where the mask is true replaced by those of source, in row-major order. The mask broadcasts to
/// x. If source has too few, the first host read throws. Needs no host read; works inside jit().
Tensor masked_scatter(Arg x, const Tensor& mask, Arg source);
/// int64 [n, rank of x]: the indices of the n elements that are not 0, in row-major order.
Tensor nonzero(Arg x);
/// The same, by NumPy's name.
Tensor argwhere(Arg x);
/// The same, an index tensor for each axis, which index() takes.
std::vector<Tensor> where(Arg condition);
/// @}

}  // namespace sinter::inline v0
