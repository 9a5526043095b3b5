// Functions of tensors: elementwise, joining, picking, products, normalisation, losses. All lazy, all pure; NumPy
// broadcasting and the promotion table of docs/dtypes.md. Operators and methods are in tensor.h.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sinter/tensor.h"

namespace sinter {
inline namespace v0 {

/// @defgroup unary Functions of one tensor
/// Elementwise, in any shape. Errors are below 2.5 units in the last place; those of each function stand in
/// src/codegen/normalize/math_ops.h.
/// @snippet elementwise.cpp functions
/// @{

/// @name In floats
/// Floats keep their type; integers and bools are computed in float32. What has no value in the reals is NaN.
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
/// Bools pass through, but for relu, which refuses them.
/// @{
Tensor relu(Arg x);    ///< max(x, 0); NaN passes, the gradient at 0 is 0
Tensor abs(Arg x);     ///< absolute value; the smallest signed integer stays
Tensor sign(Arg x);    ///< -1, 0, 1; NaN passes
Tensor square(Arg x);  ///< x * x
Tensor floor(Arg x);   ///< down to a whole number; integers pass through these four
Tensor ceil(Arg x);    ///< up to a whole number
Tensor round(Arg x);   ///< to the nearest whole number, ties to even
Tensor trunc(Arg x);   ///< towards 0
/// @}
/// @}

/// @defgroup several Functions of several tensors
/// Elementwise, with NumPy broadcasting and the promotion table of docs/dtypes.md.
/// @snippet elementwise.cpp several
/// @{
Tensor maximum(Arg a, Arg b);  ///< NaN if either is; ties share the gradient
Tensor minimum(Arg a, Arg b);  ///< NaN if either is; ties share the gradient
/// a^b as in C99. Integers: a number b >= 0 gives an integer power that wraps; everything else on integers is a
/// UsageError.
Tensor pow(Arg a, Arg b);
/// NumPy's: rounds down; an integer over 0 is 0; has no gradient.
Tensor floor_divide(Arg a, Arg b);
/// The same as a % b.
Tensor remainder(Arg a, Arg b);
/// x in [lo, hi]; NaN passes, the gradient at the bounds is 1. lo > hi gives hi.
Tensor clamp(Arg x, Arg lo, Arg hi);
/// a where the condition, a bool tensor, holds, else b. The gradient goes to what was taken.
Tensor where(Arg condition, Arg a, Arg b);
/// @}

/// @defgroup logic Logic
/// bool tensors of truth values (x != 0); the operators & | ^ ~ work on bits.
/// @snippet elementwise.cpp logic
/// @{
Tensor logical_and(Arg a, Arg b);  ///< both
Tensor logical_or(Arg a, Arg b);   ///< at least one
Tensor logical_xor(Arg a, Arg b);  ///< exactly one
Tensor logical_not(Arg x);         ///< x is 0
Tensor isnan(Arg x);               ///< false of integers
Tensor isinf(Arg x);               ///< infinite of either sign
Tensor isfinite(Arg x);            ///< neither infinite nor NaN
/// @}

/// @defgroup joining Joining
/// Parts are promoted to one type and keep -0.0 and NaN.
/// @snippet movement.cpp joining
/// @{

/// Along an existing axis; the other sizes are equal (UsageError). At least one part.
Tensor cat(const std::vector<Tensor>& parts, int64_t axis = 0, Loc where = Loc::current());
/// Along a new axis; all shapes are equal (UsageError). At least one part.
Tensor stack(const std::vector<Tensor>& parts, int64_t axis = 0, Loc where = Loc::current());
/// All operands repeated to their common shape; types stay.
std::vector<Tensor> broadcast(const std::vector<Tensor>& operands, Loc where = Loc::current());
/// @}

/// @defgroup picking Picking by integer tensors
/// Negative indices count from the end; one out of range throws at the first host read of a result (docs/semantics.md,
/// F6). An index of another type than an integer is a UsageError.
/// @snippet picking.cpp picking
/// @{

/// out[.., i, ..] = x[.., index[.., i, ..], ..], of the shape of index; x and index have equal ranks, and index may be
/// smaller than x along the other axes, as in PyTorch.
Tensor gather(Arg x, int64_t axis, const Tensor& index);
/// gather after broadcasting x and index against each other but for the axis (NumPy's take_along_axis).
Tensor take_along_dim(Arg x, const Tensor& index, int64_t axis);
/// base with base[.., index[.., i, ..], ..] += value[.., i, ..], in order of i; index and value have one shape, which
/// is base's but along the axis.
Tensor scatter_add(Arg base, int64_t axis, const Tensor& index, Arg value);
/// Slices of x along the axis, in the order of the 1-D index.
Tensor index_select(Arg x, int64_t axis, const Tensor& index);
/// Rows of `weight` [n, d]: shape of index + [d].
Tensor embedding(const Tensor& index, const Tensor& weight, Loc where = Loc::current());
/// int64, shape of index + [classes]: 1 where the class is the index. Out of range throws at the first host read.
Tensor one_hot(const Tensor& index, int64_t classes, Loc where = Loc::current());
/// @}

/// @defgroup products Products
/// In the common type; on bools any(a & b). Sums of float products are fused multiply-adds (docs/semantics.md, F1).
/// @snippet products.cpp products
/// @{

/// NumPy's matmul: [.., m, k] x [.., k, n] gives [.., m, n]. 1-D operands are vectors, whose axis goes; leading axes
/// are batches and broadcast. Inner sizes that differ are a UsageError.
Tensor matmul(Arg a, Arg b);
/// Inner product of two vectors [n], a scalar.
Tensor dot(Arg a, Arg b);
/// Sums of products by index letters, "bij,bjk->bik"; "..." stands for leading axes that broadcast. Without "->" the
/// letters that stand once, in the order of the alphabet. A letter that stands twice in one operand takes the diagonal.
Tensor einsum(std::string_view formula, const std::vector<Tensor>& operands, Loc where = Loc::current());
/// @}

/// @defgroup scans Scans
/// @snippet choose_reductions.cpp scans
/// @{

/// Along the axis the sums of each element and all before it, added in their order. Types as of Tensor::sum().
Tensor cumsum(Arg x, int64_t axis);
/// @}

/// @defgroup normalisation Normalisation
/// Integers are computed in float32. Shapes stay.
/// @snippet normalisation.cpp normalisation
/// @{

/// exp(x - max) / sum exp(x - max) along the axis.
Tensor softmax(Arg x, int64_t axis = -1);
/// log(softmax(x)), computed as x - max - log sum exp(x - max).
Tensor log_softmax(Arg x, int64_t axis = -1);
/// log sum exp(x) over the axes, without overflow; keepdim leaves them with size 1. -inf where all are.
Tensor logsumexp(Arg x, Axes axes = all_axes, bool keepdim = false);
/// (x - mean) / sqrt(var + eps) over the last axes, whose sizes are `normalized`; then * weight + bias where given,
/// which have that shape. var: mean squared distance. Ba, Kiros and Hinton, 2016.
Tensor layer_norm(Arg x, const Shape& normalized, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// x / sqrt(mean of squares + eps) over the last axes, whose sizes are `normalized`; then * weight where given. Zhang
/// and Sennrich, NeurIPS 2019. Without an eps it is the machine epsilon of the type that it is computed in: float32's
/// for 16 bits.
Tensor rms_norm(Arg x, const Shape& normalized, const Tensor& weight = {}, std::optional<double> eps = {});
/// x: [n, channels, ...], whose channels are cut into groups, each normalised with what lies behind them; weight and
/// bias: [channels]. Wu and He, ECCV 2018.
Tensor group_norm(Arg x, int64_t groups, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
/// x: [n, channels, ...]: (x - mean) / sqrt(variance + eps) * weight + bias, each [channels]. Empty mean and variance:
/// those of x, over all other axes, as in training. Ioffe and Szegedy, ICML 2015.
Tensor batch_norm(Arg x, const Tensor& mean, const Tensor& variance, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// @}

/// @defgroup losses Losses
/// Of integers in float32.
/// @snippet losses.cpp losses
/// @{

/// What becomes of the losses of the elements.
enum class Reduction : uint8_t {
  Mean,  ///< a scalar
  Sum,   ///< a scalar
  None   ///< all of them
};
/// Of cross_entropy() and nll_loss().
struct CrossEntropyOptions {
  Reduction reduction = Reduction::Mean;  ///< over all targets
  /// Targets that are this number, of a class or not, count for nothing, in the mean too. Empty: there is no such
  /// number.
  std::optional<int64_t> ignore_index = -100;
};
/// -log softmax(logits)[target]. logits [classes], [n, classes] or [n, classes, ...]; target: integer classes without
/// that axis, or probabilities of the logits' shape, with the loss -sum p log softmax (their mean is over all but the
/// class axis). A class outside [0, classes) that is not ignored throws at the first host read.
Tensor cross_entropy(Arg logits, const Tensor& target, CrossEntropyOptions options = {});
/// The same of log-probabilities, with class targets.
Tensor nll_loss(Arg log_probabilities, const Tensor& target, CrossEntropyOptions options = {});
/// (x - target)^2; the shapes are equal (UsageError), as in the next two.
Tensor mse_loss(Arg x, Arg target, Reduction reduction = Reduction::Mean);
/// |x - target|.
Tensor l1_loss(Arg x, Arg target, Reduction reduction = Reduction::Mean);
/// log(1 + exp(x)) - x * target, without overflow: the cross entropy of sigmoid(x) and a target in [0, 1].
Tensor binary_cross_entropy_with_logits(Arg x, Arg target, Reduction reduction = Reduction::Mean);
/// @}

}  // namespace v0
}  // namespace sinter
