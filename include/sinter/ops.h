// Functions of tensors: elementwise, joining, picking, products, normalisation, losses. All lazy, all pure; NumPy
// broadcasting and the promotion table of docs/dtypes.md. Operators and methods are in tensor.h.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sinter/tensor.h"

namespace sinter {
inline namespace v0 {

// -- functions of one float; integers and bools are computed in float32
Tensor exp(Arg x);
Tensor exp2(Arg x);
Tensor expm1(Arg x);  ///< exp(x) - 1, accurate near 0
Tensor log(Arg x);
Tensor log2(Arg x);
Tensor log1p(Arg x);  ///< log(1 + x), accurate near 0
Tensor sqrt(Arg x);
Tensor rsqrt(Arg x);
Tensor sin(Arg x);
Tensor cos(Arg x);
Tensor tan(Arg x);
Tensor tanh(Arg x);
Tensor erf(Arg x);
Tensor sigmoid(Arg x);
Tensor silu(Arg x);  ///< x * sigmoid(x)
enum class Gelu : uint8_t { Exact, Tanh };
Tensor gelu(Arg x, Gelu form = Gelu::Exact);
Tensor reciprocal(Arg x);

// -- functions of one number that keep its type
Tensor relu(Arg x);  ///< max(x, 0); NaN passes, the gradient at 0 is 0
Tensor abs(Arg x);
Tensor sign(Arg x);  ///< -1, 0, 1; NaN passes
Tensor square(Arg x);
Tensor floor(Arg x);  ///< integers pass through these four
Tensor ceil(Arg x);
Tensor round(Arg x);  ///< ties to even
Tensor trunc(Arg x);

// -- functions of several
Tensor maximum(Arg a, Arg b);  ///< NaN if either is; ties share the gradient
Tensor minimum(Arg a, Arg b);
/// a^b as in C99. Integers: a number b >= 0 gives an integer power that wraps; everything else on integers is a
/// UsageError.
Tensor pow(Arg a, Arg b);
/// NumPy's: rounds down; an integer over 0 is 0; has no gradient.
Tensor floor_divide(Arg a, Arg b);
/// The same as a % b.
Tensor remainder(Arg a, Arg b);
/// x in [lo, hi]; NaN passes, the gradient at the bounds is 1. lo > hi gives hi.
Tensor clamp(Arg x, Arg lo, Arg hi);
/// a where the bool condition holds, else b.
Tensor where(Arg condition, Arg a, Arg b);

// -- logic on truth values (x != 0); the operators & | ^ ~ work on bits
Tensor logical_and(Arg a, Arg b);
Tensor logical_or(Arg a, Arg b);
Tensor logical_xor(Arg a, Arg b);
Tensor logical_not(Arg x);
Tensor isnan(Arg x);
Tensor isinf(Arg x);
Tensor isfinite(Arg x);

// -- joining; parts are promoted to one type and keep -0.0 and NaN
/// Along an existing axis; the other sizes are equal.
Tensor cat(const std::vector<Tensor>& parts, int64_t axis = 0, Loc where = Loc::current());
/// Along a new axis; all shapes are equal.
Tensor stack(const std::vector<Tensor>& parts, int64_t axis = 0, Loc where = Loc::current());
/// All operands repeated to their common shape.
std::vector<Tensor> broadcast(const std::vector<Tensor>& operands, Loc where = Loc::current());

// -- picking by integer tensors: negative ones count from the end, one out of range throws at the first host read
/// out[.., i, ..] = x[.., index[.., i, ..], ..]; index may be smaller than x along the other axes, as in PyTorch.
Tensor gather(Arg x, int64_t axis, const Tensor& index);
/// gather after broadcasting x and index against each other but for the axis (NumPy's take_along_axis).
Tensor take_along_dim(Arg x, const Tensor& index, int64_t axis);
/// base with base[.., index[.., i, ..], ..] += value[.., i, ..], in order of i; index and value have one shape.
Tensor scatter_add(Arg base, int64_t axis, const Tensor& index, Arg value);
/// Slices of x along the axis, in the order of the 1-D index.
Tensor index_select(Arg x, int64_t axis, const Tensor& index);
/// Rows of `weight` [n, d]: shape of index + [d].
Tensor embedding(const Tensor& index, const Tensor& weight, Loc where = Loc::current());
/// int64, shape of index + [classes]: 1 where the class is the index. Out of range throws at the first host read.
Tensor one_hot(const Tensor& index, int64_t classes, Loc where = Loc::current());

// -- products
/// NumPy's matmul: 1-D operands are vectors, leading axes are batches and broadcast.
Tensor matmul(Arg a, Arg b);
/// Inner product of two vectors.
Tensor dot(Arg a, Arg b);
/// Sums of products by index letters, "bij,bjk->bik"; "..." stands for leading axes that broadcast, a letter that
/// stands twice in an operand for a diagonal.
Tensor einsum(std::string_view formula, const std::vector<Tensor>& operands, Loc where = Loc::current());

// -- normalisation; integers are computed in float32
Tensor softmax(Arg x, int64_t axis = -1);
Tensor log_softmax(Arg x, int64_t axis = -1);
Tensor logsumexp(Arg x, Axes axes = {}, bool keepdim = false);
/// (x - mean) / sqrt(var + eps) over the last axes, whose sizes are `normalized`; then * weight + bias where given.
Tensor layer_norm(Arg x, const Shape& normalized, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);

// -- losses
enum class Reduction : uint8_t { Mean, Sum, None };
struct CrossEntropyOptions {
  Reduction reduction = Reduction::Mean;
  /// Targets that are this number, of a class or not, count for nothing, in the mean too. Empty: there is no such
  /// number.
  std::optional<int64_t> ignore_index = -100;
};
/// logits [classes], [n, classes] or [n, classes, ...]; target: integer classes without that axis, or probabilities of
/// the logits' shape (their mean is over all but the class axis). A class outside [0, classes) that is not ignored
/// throws at the first host read.
Tensor cross_entropy(Arg logits, const Tensor& target, CrossEntropyOptions options = {});
/// The same of log-probabilities, with class targets.
Tensor nll_loss(Arg log_probabilities, const Tensor& target, CrossEntropyOptions options = {});
Tensor mse_loss(Arg x, Arg target, Reduction reduction = Reduction::Mean);
Tensor l1_loss(Arg x, Arg target, Reduction reduction = Reduction::Mean);
Tensor binary_cross_entropy_with_logits(Arg x, Arg target, Reduction reduction = Reduction::Mean);

}  // namespace v0
}  // namespace sinter
