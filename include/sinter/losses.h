// Losses: scalars of a prediction and a target, to be minimized.
#pragma once

#include <optional>
#include <vector>

#include "sinter/choice.h"
#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup losses Losses
/// Floats keep their type; integers and bools are computed in float32. Shapes of predictions and targets must be equal
/// (UsageError) unless a function says otherwise: broadcasting would hide a forgotten axis. Options are given by name:
/// `mse_loss(x, target, {.reduction = Reduction::Sum})`, or `"sum"`. Losses without options of their own also take the
/// reduction alone: `mse_loss(x, target, Reduction::Sum)`.
/// @snippet losses.cpp losses
/// @{

/// How the losses of the elements are reduced.
enum class Reduction : uint8_t {
  Mean,  ///< their mean, a scalar
  Sum,   ///< their sum, a scalar
  None   ///< not reduced
};
/// Options of losses that have no others.
struct LossOptions {
  Choice<Reduction> reduction = Reduction::Mean;
};

/// @name Of classes
/// @{

/// Options of cross_entropy() and nll_loss().
struct CrossEntropyOptions {
  Choice<Reduction> reduction = Reduction::Mean;  ///< over all targets; by weight if there are weights
  /// Targets equal to this number, a class or not, are ignored, in the mean too. Empty: no target is ignored.
  std::optional<int64_t> ignore_index = -100;
  Tensor weight = {};          ///< of each class: [classes]
  double label_smoothing = 0;  ///< this share, in [0, 1], of a target is spread evenly over all classes
};
/// -log softmax(logits)[target]. logits: [classes], [n, classes] or [n, classes, ...]. target: integer classes without
/// that axis; or probabilities p in the logits' shape, with the loss -sum p log softmax, whose mean is over all axes
/// except the class axis. A class outside [0, classes) that is not ignored throws at the first host read.
Tensor cross_entropy(Arg logits, const Tensor& target, CrossEntropyOptions options = {});
/// The same for log-probabilities, with class targets and no label_smoothing.
Tensor nll_loss(Arg log_probabilities, const Tensor& target, CrossEntropyOptions options = {});
/// Options of multi_margin_loss().
struct MultiMarginOptions {
  int64_t p = 1;  ///< 1 or 2
  double margin = 1;
  Tensor weight = {};  ///< of each class: [classes]; that of the target counts
  Choice<Reduction> reduction = Reduction::Mean;
};
/// sum over j != target of max(0, margin - x[target] + x[j])^p / classes. x: [n, classes] or [classes], target: integer
/// classes [n] or []. A class outside [0, classes) throws at the first host read.
Tensor multi_margin_loss(Arg x, const Tensor& target, MultiMarginOptions options = {});
/// Options of multilabel_soft_margin_loss().
struct MultilabelOptions {
  Tensor weight = {};  ///< of each class; broadcasts to x
  Choice<Reduction> reduction = Reduction::Mean;
};
/// The mean over the last axis, the classes, of binary_cross_entropy_with_logits(). target: 0 or 1 for each class.
Tensor multilabel_soft_margin_loss(Arg x, Arg target, MultilabelOptions options = {});
/// @}

/// @name Of numbers
/// @{

/// (x - target)^2.
Tensor mse_loss(Arg x, Arg target, LossOptions options = {});
/// The same.
inline Tensor mse_loss(Arg x, Arg target, Reduction reduction) { return mse_loss(x, target, LossOptions{reduction}); }
/// |x - target|.
Tensor l1_loss(Arg x, Arg target, LossOptions options = {});
/// The same.
inline Tensor l1_loss(Arg x, Arg target, Reduction reduction) { return l1_loss(x, target, LossOptions{reduction}); }
/// Options of smooth_l1_loss().
struct SmoothL1Options {
  double beta = 1;  ///< where the parabola ends; 0: l1_loss()
  Choice<Reduction> reduction = Reduction::Mean;
};
/// d^2 / (2 beta) where d = |x - target| is below beta, d - beta / 2 elsewhere. Girshick, 2015.
Tensor smooth_l1_loss(Arg x, Arg target, SmoothL1Options options = {});
/// Options of huber_loss().
struct HuberOptions {
  double delta = 1;  ///< where the parabola ends; above 0
  Choice<Reduction> reduction = Reduction::Mean;
};
/// d^2 / 2 where d = |x - target| is at most delta, delta * (d - delta / 2) elsewhere. Huber, 1964.
Tensor huber_loss(Arg x, Arg target, HuberOptions options = {});
/// Options of poisson_nll_loss().
struct PoissonNllOptions {
  bool log_input = true;  ///< x is the logarithm of the rate
  bool full = false;      ///< with Stirling's approximation of log(target!) for targets above 1
  double eps = 1e-8;      ///< added to the rate whose logarithm is taken
  Choice<Reduction> reduction = Reduction::Mean;
};
/// exp(x) - target * x; without log_input, x - target * log(x + eps).
Tensor poisson_nll_loss(Arg x, Arg target, PoissonNllOptions options = {});
/// Options of gaussian_nll_loss().
struct GaussianNllOptions {
  bool full = false;  ///< with the constant log(2 pi) / 2
  double eps = 1e-6;  ///< the least variance; the gradient ignores this bound
  Choice<Reduction> reduction = Reduction::Mean;
};
/// (log(variance) + (x - target)^2 / variance) / 2. variance: in the shape of x, or with size 1 for its last axis, or
/// without that axis; or a number. A negative one counts as eps.
Tensor gaussian_nll_loss(Arg x, Arg target, Arg variance, GaussianNllOptions options = {});
/// @}

/// @name Of probabilities
/// @{

/// Options of binary_cross_entropy() and binary_cross_entropy_with_logits().
struct BinaryCrossEntropyOptions {
  Choice<Reduction> reduction = Reduction::Mean;
  Tensor weight = {};      ///< of each element; broadcasts to x
  Tensor pos_weight = {};  ///< of the targets 1; broadcasts to x. Only with logits
};
/// -(target log x + (1 - target) log(1 - x)), for x and target in [0, 1]. The logarithms are at least -100. NaN for x
/// outside.
Tensor binary_cross_entropy(Arg x, Arg target, BinaryCrossEntropyOptions options = {});
/// binary_cross_entropy() of sigmoid(x), without overflow: log(1 + exp(x)) - x * target.
Tensor binary_cross_entropy_with_logits(Arg x, Arg target, BinaryCrossEntropyOptions options = {});
/// The same without weights.
inline Tensor binary_cross_entropy_with_logits(Arg x, Arg target, Reduction reduction) {
  return binary_cross_entropy_with_logits(x, target, BinaryCrossEntropyOptions{.reduction = reduction});
}
/// Options of kl_div().
struct KlDivOptions {
  bool log_target = false;  ///< target is a logarithm too
  bool batchmean = false;   ///< the mean is over the first axis, not over all elements; this is the divergence
  Choice<Reduction> reduction = Reduction::Mean;
};
/// target * (log target - x), 0 where target is 0: the Kullback-Leibler divergence from exp(x) to target. x holds
/// log-probabilities.
Tensor kl_div(Arg x, Arg target, KlDivOptions options = {});
/// @}

/// @name Of two answers, or of distances
/// Targets are 1 or -1.
/// @{

/// log(1 + exp(-target * x)), without overflow.
Tensor soft_margin_loss(Arg x, Arg target, LossOptions options = {});
/// The same.
inline Tensor soft_margin_loss(Arg x, Arg target, Reduction reduction) {
  return soft_margin_loss(x, target, LossOptions{reduction});
}
/// Options of hinge_embedding_loss().
struct HingeEmbeddingOptions {
  double margin = 1;
  Choice<Reduction> reduction = Reduction::Mean;
};
/// x where the target is 1, max(0, margin - x) where it is -1.
Tensor hinge_embedding_loss(Arg x, Arg target, HingeEmbeddingOptions options = {});
/// Options of margin_ranking_loss() and cosine_embedding_loss().
struct MarginOptions {
  double margin = 0;
  Choice<Reduction> reduction = Reduction::Mean;
};
/// max(0, margin - target * (x1 - x2)): x1 should be the larger one where the target is 1.
Tensor margin_ranking_loss(Arg x1, Arg x2, Arg target, MarginOptions options = {});
/// 1 - cos where the target is 1, max(0, cos - margin) where it is -1; cos is that of the angle between x1 and x2
/// along their last axis. x1, x2: [n, size] or [size], target: [n] or [].
Tensor cosine_embedding_loss(Arg x1, Arg x2, Arg target, MarginOptions options = {});
/// Options of triplet_margin_loss().
struct TripletMarginOptions {
  double margin = 1;
  double p = 2;       ///< of the norm; infinity: the largest difference
  double eps = 1e-6;  ///< added to the differences
  bool swap = false;  ///< the smaller one of both distances to `negative` counts. Balntas et al., 2016
  Choice<Reduction> reduction = Reduction::Mean;
};
/// max(0, margin + |anchor - positive| - |anchor - negative|), with norms along the last axis.
Tensor triplet_margin_loss(Arg anchor, Arg positive, Arg negative, TripletMarginOptions options = {});
/// @}

/// @name Of sequences
/// @{

/// Options of ctc_loss().
struct CtcOptions {
  int64_t blank = 0;  ///< the class that stands for no label
  Choice<Reduction> reduction =
      Reduction::Mean;         ///< the mean is that of the losses, each divided by its number of labels
  bool zero_infinity = false;  ///< 0 in place of the loss of labels that do not fit into the input
};
/// -log of the probability of a sequence of labels, summed over its alignments with the input: connectionist temporal
/// classification. log_probabilities: [time, n, classes] or [time, classes]. targets: integer labels [n, size], or
/// [size] for one sequence, without blanks. input_lengths, target_lengths: integers [n], or [] for one sequence; what
/// lies behind them is ignored. Labels that do not fit give infinity, with gradient 0. Graves et al., 2006. The
/// recursion over time is unrolled, so its length is fixed. A label outside [0, classes) throws at the first host read.
Tensor ctc_loss(Arg log_probabilities, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
                CtcOptions options = {});
/// The same for lengths known to the program; then the labels of all sequences may also follow each other: [sum of
/// target_lengths].
Tensor ctc_loss(Arg log_probabilities, const Tensor& targets, const std::vector<int64_t>& input_lengths,
                const std::vector<int64_t>& target_lengths, CtcOptions options = {});
/// @}
/// @}

}  // namespace sinter::inline v0
