// Functions of tensors: elementwise, joining, picking, products, normalization, losses. All are lazy and pure, with
// NumPy broadcasting and the promotion table of docs/dtypes.md. Operators and methods are in tensor.h.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sinter/tensor.h"

namespace sinter {
inline namespace v0 {

/// @defgroup unary Functions of one tensor
/// Elementwise, in any shape. Errors are below 2.5 units in the last place; the error of each function is given in
/// src/codegen/normalize/math_ops.h.
/// @snippet elementwise.cpp functions
/// @{

/// @name In floats
/// Floats keep their type; integers and bools are computed in float32. Results that are not real are NaN.
/// @{
Tensor exp(Arg x);         ///< e^x
Tensor exp2(Arg x);        ///< 2^x
Tensor expm1(Arg x);       ///< exp(x) - 1, accurate near 0
Tensor log(Arg x);         ///< natural logarithm; -inf at 0
Tensor log2(Arg x);        ///< logarithm to base 2
Tensor log1p(Arg x);       ///< log(1 + x), accurate near 0
Tensor sqrt(Arg x);        ///< rounded correctly
Tensor rsqrt(Arg x);       ///< 1 / sqrt(x)
Tensor sin(Arg x);         ///< radians
Tensor cos(Arg x);         ///< radians
Tensor tan(Arg x);         ///< radians
Tensor tanh(Arg x);        ///< hyperbolic tangent
Tensor erf(Arg x);         ///< 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x
Tensor sigmoid(Arg x);     ///< 1 / (1 + exp(-x))
Tensor silu(Arg x);        ///< x * sigmoid(x)
Tensor reciprocal(Arg x);  ///< 1 / x
/// Which formula gelu() takes.
enum class Gelu : uint8_t {
  Exact,  ///< x * (1 + erf(x / sqrt(2))) / 2
  Tanh    ///< x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2
};
Tensor gelu(Arg x, Gelu form = Gelu::Exact);  ///< Hendrycks and Gimpel, 2016
/// @}

/// @name In the type of x
/// Bools pass through, except in relu, which refuses them.
/// @{
Tensor relu(Arg x);    ///< max(x, 0); NaN passes through; the gradient at 0 is 0
Tensor abs(Arg x);     ///< absolute value; the smallest signed integer maps to itself
Tensor sign(Arg x);    ///< -1, 0, 1; NaN passes through
Tensor square(Arg x);  ///< x * x
Tensor floor(Arg x);   ///< down to a whole number; integers pass through these four
Tensor ceil(Arg x);    ///< up to a whole number
Tensor round(Arg x);   ///< to the nearest whole number, ties to even
Tensor trunc(Arg x);   ///< toward 0
/// @}
/// @}

/// @defgroup several Functions of several tensors
/// Elementwise, with NumPy broadcasting and the promotion table of docs/dtypes.md.
/// @snippet elementwise.cpp several
/// @{
Tensor maximum(Arg a, Arg b);  ///< NaN if either is; ties share the gradient
Tensor minimum(Arg a, Arg b);  ///< NaN if either is; ties share the gradient
/// a^b as in C99. Integers: only a plain number b >= 0, which gives an integer power that wraps. Everything else on
/// integers is a UsageError.
Tensor pow(Arg a, Arg b);
/// NumPy's: rounds down; an integer divided by 0 is 0; no gradient.
Tensor floor_divide(Arg a, Arg b);
/// The same as a % b.
Tensor remainder(Arg a, Arg b);
/// x in [lo, hi]; NaN passes through; the gradient at the bounds is 1. lo > hi gives hi.
Tensor clamp(Arg x, Arg lo, Arg hi);
/// a where the condition, a bool tensor, is true, b elsewhere. The gradient goes to the selected element.
Tensor where(Arg condition, Arg a, Arg b);
/// @}

/// @defgroup logic Logic
/// bool tensors of truth values (x != 0); the operators & | ^ ~ work on bits.
/// @snippet elementwise.cpp logic
/// @{
Tensor logical_and(Arg a, Arg b);  ///< both are true
Tensor logical_or(Arg a, Arg b);   ///< at least one is true
Tensor logical_xor(Arg a, Arg b);  ///< exactly one is true
Tensor logical_not(Arg x);         ///< whether x is 0
Tensor isnan(Arg x);               ///< false for integers
Tensor isinf(Arg x);               ///< infinite of either sign
Tensor isfinite(Arg x);            ///< neither infinite nor NaN
/// @}

/// @defgroup joining Joining
/// Parts are promoted to one type and keep -0.0 and NaN.
/// @snippet movement.cpp joining
/// @{

/// Joins along an existing axis; the other sizes must be equal (UsageError). At least one part.
Tensor cat(const std::vector<Tensor>& parts, int64_t axis = 0, Loc where = Loc::current());
/// Joins along a new axis; all shapes must be equal (UsageError). At least one part.
Tensor stack(const std::vector<Tensor>& parts, int64_t axis = 0, Loc where = Loc::current());
/// All operands broadcast to their common shape; types stay.
std::vector<Tensor> broadcast(const std::vector<Tensor>& operands, Loc where = Loc::current());
/// @}

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
/// base with base[.., index[.., i, ..], ..] += value[.., i, ..], in order of i. index and value have one shape, which
/// equals base's except along the axis.
Tensor scatter_add(Arg base, int64_t axis, const Tensor& index, Arg value);
/// Slices of x along the axis, selected by the 1-D index in its order.
Tensor index_select(Arg x, int64_t axis, const Tensor& index);
/// Rows of `weight` [n, d]: shape of index + [d].
Tensor embedding(const Tensor& index, const Tensor& weight, Loc where = Loc::current());
/// int64, shape of index + [classes]: 1 at the class that index names. Out of range throws at the first host read.
Tensor one_hot(const Tensor& index, int64_t classes, Loc where = Loc::current());
/// @}

/// @defgroup products Products
/// Computed in the common type; on bools any(a & b). Sums of float products use fused multiply-adds (docs/semantics.md,
/// F1).
/// @snippet products.cpp products
/// @{

/// NumPy's matmul: [.., m, k] x [.., k, n] gives [.., m, n]. 1-D operands are vectors; their axis is dropped from the
/// result. Leading axes are batches and broadcast. Inner sizes that differ are a UsageError.
Tensor matmul(Arg a, Arg b);
/// Inner product of two vectors [n], a scalar.
Tensor dot(Arg a, Arg b);
/// Sums of products by index letters, "bij,bjk->bik"; "..." stands for leading axes that broadcast. Without "->", the
/// result has the letters that occur once, in alphabetical order. A letter that occurs twice in one operand takes the
/// diagonal.
Tensor einsum(std::string_view formula, const std::vector<Tensor>& operands, Loc where = Loc::current());
/// @}

/// @defgroup scans Scans
/// @snippet reductions.cpp scans
/// @{

/// Cumulative sums along the axis, each including its own element, added in order. Types as in Tensor::sum().
Tensor cumsum(Arg x, int64_t axis);
/// @}

/// @defgroup normalization Normalization
/// Integers are computed in float32. Shapes stay.
/// @snippet normalization.cpp normalization
/// @{

/// exp(x - max) / sum exp(x - max) along the axis.
Tensor softmax(Arg x, int64_t axis = -1);
/// log(softmax(x)), computed as x - max - log sum exp(x - max).
Tensor log_softmax(Arg x, int64_t axis = -1);
/// log sum exp(x) over the axes, without overflow; keepdim keeps them with size 1. -inf if all elements are.
Tensor logsumexp(Arg x, Axes axes = all_axes, bool keepdim = false);
/// (x - mean) / sqrt(var + eps) over the last axes, whose sizes are `normalized`; then * weight + bias if given, both
/// of that shape. var is the mean squared deviation. Ba, Kiros and Hinton, 2016.
Tensor layer_norm(Arg x, const Shape& normalized, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// x / sqrt(mean of squares + eps) over the last axes, whose sizes are `normalized`; then * weight if given. The
/// default eps is the machine epsilon of the compute type: float32's for 16-bit floats. Zhang and Sennrich, NeurIPS
/// 2019.
Tensor rms_norm(Arg x, const Shape& normalized, const Tensor& weight = {}, std::optional<double> eps = {});
/// x: [n, channels, ...]. Channels are divided into groups; each group is normalized together with the axes after the
/// channels. weight and bias: [channels]. Wu and He, ECCV 2018.
Tensor group_norm(Arg x, int64_t groups, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
/// x: [n, channels, ...]: (x - mean) / sqrt(variance + eps) * weight + bias, each [channels]. With empty mean and
/// variance, those of x over all other axes are used, as in training. Ioffe and Szegedy, ICML 2015.
Tensor batch_norm(Arg x, const Tensor& mean, const Tensor& variance, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// @}

/// @defgroup losses Losses
/// Integers are computed in float32.
/// @snippet losses.cpp losses
/// @{

/// How the losses of the elements are reduced.
enum class Reduction : uint8_t {
  Mean,  ///< their mean, a scalar
  Sum,   ///< their sum, a scalar
  None   ///< not reduced
};
/// Options of cross_entropy() and nll_loss().
struct CrossEntropyOptions {
  Reduction reduction = Reduction::Mean;  ///< over all targets
  /// Targets equal to this number, a class or not, are ignored, in the mean too. Empty: no target is ignored.
  std::optional<int64_t> ignore_index = -100;
};
/// -log softmax(logits)[target]. logits: [classes], [n, classes] or [n, classes, ...]. target: integer classes without
/// that axis; or probabilities p in the logits' shape, with the loss -sum p log softmax, whose mean is over all axes
/// except the class axis. A class outside [0, classes) that is not ignored throws at the first host read.
Tensor cross_entropy(Arg logits, const Tensor& target, CrossEntropyOptions options = {});
/// The same for log-probabilities, with class targets.
Tensor nll_loss(Arg log_probabilities, const Tensor& target, CrossEntropyOptions options = {});
/// (x - target)^2. The shapes must be equal (UsageError), also in the next two.
Tensor mse_loss(Arg x, Arg target, Reduction reduction = Reduction::Mean);
/// |x - target|.
Tensor l1_loss(Arg x, Arg target, Reduction reduction = Reduction::Mean);
/// log(1 + exp(x)) - x * target, without overflow: the cross entropy of sigmoid(x) and a target in [0, 1].
Tensor binary_cross_entropy_with_logits(Arg x, Arg target, Reduction reduction = Reduction::Mean);
/// @}

}  // namespace v0
}  // namespace sinter
