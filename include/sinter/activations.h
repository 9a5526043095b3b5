// Activations of networks. All are lazy; all are pure but those that draw random numbers.
#pragma once

#include "sinter/choice.h"
#include "sinter/random.h"

namespace sinter::inline v0 {

/// @defgroup activations Activations
/// Elementwise, in any shape. Floats keep their type; integers and bools are computed in float32, except in relu(),
/// relu6(), hardtanh() and threshold(), which keep integers and refuse bools. NaN passes through. Where a function has
/// a kink, its gradient is PyTorch's. tanh() is in elementwise.h, softmax() in normalization.h.
/// @snippet elementwise.cpp functions
/// @snippet activations.cpp activations
/// @{
Tensor relu(Arg x);     ///< max(x, 0); the gradient at 0 is 0
Tensor sigmoid(Arg x);  ///< 1 / (1 + exp(-x))
Tensor silu(Arg x);     ///< x * sigmoid(x)
/// Which formula gelu() takes.
enum class Gelu : uint8_t {
  Exact,  ///< x * (1 + erf(x / sqrt(2))) / 2
  Tanh    ///< x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2
};
Tensor gelu(Arg x, Choice<Gelu> form = Gelu::Exact);  ///< Hendrycks and Gimpel, 2016

/// @name Of the family of relu
/// @{

/// x, or x * slope where x <= 0. Maas, Hannun and Ng, 2013.
Tensor leaky_relu(Arg x, double slope = 0.01);
/// leaky_relu() with slopes that are learned: one, or one for each channel of x [n, channels, ...]. He et al., 2015.
Tensor prelu(Arg x, const Tensor& weight);
/// leaky_relu() with the slope (lower + upper) / 2; in training, with a slope for each element that is uniform in
/// [lower, upper). Xu et al., 2015.
Tensor rrelu(Arg x, double lower = 1.0 / 8, double upper = 1.0 / 3, bool training = false,
             Generator* generator = nullptr);
/// x, or alpha * (exp(x) - 1) where x <= 0. Clevert, Unterthiner and Hochreiter, 2015.
Tensor elu(Arg x, double alpha = 1);
/// elu() whose alpha and scale keep mean 0 and variance 1. Klambauer et al., 2017.
Tensor selu(Arg x);
/// x, or alpha * (exp(x / alpha) - 1) where x <= 0; smooth for every alpha. Barron, 2017.
Tensor celu(Arg x, double alpha = 1);
Tensor relu6(Arg x);  ///< x in [0, 6]; the gradient at the bounds is 0
/// x in [lo, hi]; unlike that of clamp(), the gradient at the bounds is 0. UsageError unless lo <= hi.
Tensor hardtanh(Arg x, double lo = -1, double hi = 1);
/// x where x > bound, `value` elsewhere.
Tensor threshold(Arg x, double bound, double value);
/// @}

/// @name Smooth, and pieces of lines in their place
/// @{

/// log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.
Tensor softplus(Arg x, double beta = 1, double threshold = 20);
Tensor softsign(Arg x);     ///< x / (1 + |x|)
Tensor mish(Arg x);         ///< x * tanh(softplus(x)); Misra, 2019
Tensor logsigmoid(Arg x);   ///< log(sigmoid(x)), without overflow
Tensor tanhshrink(Arg x);   ///< x - tanh(x)
Tensor hardsigmoid(Arg x);  ///< relu6(x + 3) / 6
Tensor hardswish(Arg x);    ///< x * relu6(x + 3) / 6; Howard et al., 2019
/// 0 where -lambda <= x <= lambda, x elsewhere.
Tensor hardshrink(Arg x, double lambda = 0.5);
/// x - lambda above lambda, x + lambda below -lambda, 0 between. UsageError unless lambda >= 0.
Tensor softshrink(Arg x, double lambda = 0.5);
/// @}

/// @name Along an axis
/// @{

/// a * sigmoid(b), where a and b are the halves of x along the axis. Dauphin et al., 2016. UsageError for an odd size.
Tensor glu(Arg x, int64_t axis = -1);
Tensor softmin(Arg x, int64_t axis = -1);  ///< softmax(-x)
/// softmax((logits + Gumbel noise) / tau): a differentiable draw from the categorical distribution of the logits. hard:
/// the one-hot vector of its largest element, with the gradient of the softmax. Jang, Gu and Poole, 2016. UsageError
/// unless tau > 0.
Tensor gumbel_softmax(Arg logits, double tau = 1, bool hard = false, int64_t axis = -1, Generator* generator = nullptr);
/// @}
/// @}

}  // namespace sinter::inline v0
