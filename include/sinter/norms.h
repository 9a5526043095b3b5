// Sizes of vectors and matrices, and distances between vectors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup norms Norms and distances
/// Floats in their own type; integers and bools are computed in float32. 16-bit floats are rounded once. p is the order
/// of a vector's norm (sum of |x|^p)^(1/p): 1, 2, infinity (the largest |x|), -infinity (the smallest), 0 (the number
/// of elements that are not 0) or any other number; NaN is a UsageError. A norm that is 0 gives a gradient of 0.
/// @snippet norms.cpp norms
/// @{

/// The norm of the elements along the axes. Without elements it is 0; for p < 0 and infinity a UsageError. `dtype`, if
/// given, is the float type that x is converted to before.
Tensor vector_norm(Arg x, double p = 2, Axes axes = all_axes, bool keepdim = false, DType dtype = DType::Void);
/// vector_norm, by PyTorch's shorter name.
Tensor norm(Arg x, double p = 2, Axes axes = all_axes, bool keepdim = false, DType dtype = DType::Void);
/// The order "fro": the square root of the sum of squares of a matrix, over two axes; "nuc": the sum of its singular
/// values (as svdvals()). Other words are a UsageError.
Tensor matrix_norm(Arg x, std::string_view order = "fro", std::pair<int64_t, int64_t> axes = {-2, -1},
                   bool keepdim = false);
/// Of the sums of |x| over columns (1, -1) or rows (infinity, -infinity), the largest or, for a negative order, the
/// smallest; 2 and -2: the largest and the smallest singular value (as svdvals()). The largest of none is 0. Other
/// numbers are a UsageError. The axes are {rows, columns}.
Tensor matrix_norm(Arg x, double order, std::pair<int64_t, int64_t> axes = {-2, -1}, bool keepdim = false);
/// PyTorch's linalg.norm: matrix_norm() over two axes, vector_norm() over one. Without axes, that of a vector or a
/// matrix (UsageError for other ranks). Without an order, the vector's of all elements along the axes.
Tensor linalg_norm(Arg x, std::optional<double> order = {}, Axes axes = all_axes, bool keepdim = false);
/// The same of a whole order. A template, so that 0 is no word.
Tensor linalg_norm(Arg x, Integer auto order, Axes axes = all_axes, bool keepdim = false) {
  return linalg_norm(x, static_cast<double>(order), std::move(axes), keepdim);
}
/// The same with the order "fro" or "nuc" of a matrix.
Tensor linalg_norm(Arg x, std::string_view order, Axes axes = all_axes, bool keepdim = false);
/// x divided by its norm along an axis, or by `eps` if that is larger.
Tensor normalize(Arg x, double p = 2, int64_t axis = 1, double eps = 1e-12);
/// The cosine of the angle between vectors along an axis of two tensors that broadcast. A norm below `eps` counts as
/// `eps`.
Tensor cosine_similarity(Arg a, Arg b, int64_t axis = 1, double eps = 1e-8);
/// The norm of a - b + eps along the last axis of two tensors that broadcast.
Tensor pairwise_distance(Arg a, Arg b, double p = 2, double eps = 1e-6, bool keepdim = false);
/// Distances between all rows: [.., m, k] and [.., n, k] give [.., m, n]. Leading axes broadcast. Differences are
/// summed as they are, not as a product of matrices, so that near rows keep their distance. p >= 0. NaN passes through,
/// also for p infinity (where PyTorch skips it).
Tensor cdist(Arg a, Arg b, double p = 2);
/// Distances between the rows of a matrix [n, k], each pair once: the [n * (n - 1) / 2] elements of cdist(x, x) above
/// the diagonal. p >= 0.
Tensor pdist(Arg x, double p = 2);
/// @}

}  // namespace sinter::inline v0
