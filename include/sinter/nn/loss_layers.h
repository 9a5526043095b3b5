// Losses as layers, for programs that keep a loss beside its model. Each calls the function of its name with the
// options that it holds; what they compute stands there, in losses.h. Weights of classes are in the state_dict, as in
// PyTorch.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sinter/losses.h"
#include "sinter/nn/function_layer.h"

namespace sinter::inline v0::nn {

/// What a loss with options has. The weights among them are its state.
template <class Options>
struct LossWithOptions {
  explicit LossWithOptions(Options options = {}) : options(std::move(options)) {}
  Options options;
  template <class F>
  void visit(F&& f) {
    visit_weights(options, f);
  }
  template <class F>
  void visit(F&& f) const {
    visit_weights(options, f);
  }

 private:
  template <class O, class F>
  static void visit_weights(O& options, F& f) {
    if constexpr (requires { options.weight; }) f("weight", options.weight);
    if constexpr (requires { options.pos_weight; }) f("pos_weight", options.pos_weight);
  }
};

/// A loss of a prediction and a target as a layer.
template <CallName name, class Options, auto function>
struct LossLayer : LossWithOptions<Options> {
  using LossWithOptions<Options>::LossWithOptions;
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const {
    const CallScope call(name.text, where);
    return function(x, target, this->options);
  }
};

/// The same of one that has no options but the reduction.
template <CallName name, Tensor (*function)(Arg, Arg, Reduction)>
struct ReducedLoss {
  explicit ReducedLoss(LossOptions options = {}) : reduction(options.reduction) {}
  explicit ReducedLoss(Reduction reduction) : reduction(reduction) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const {
    const CallScope call(name.text, where);
    return function(x, target, reduction);
  }
  Reduction reduction;
  SINTER_EMPTY_MODULE()
};

/// The same of one of three tensors.
template <CallName name, class Options, Tensor (*function)(Arg, Arg, Arg, Options)>
struct ThreeTensorLoss : LossWithOptions<Options> {
  using LossWithOptions<Options>::LossWithOptions;
  Tensor operator()(const Tensor& a, const Tensor& b, const Tensor& c, Loc where = Loc::current()) const {
    const CallScope call(name.text, where);
    return function(a, b, c, this->options);
  }
};

/// cross_entropy().
struct CrossEntropyLoss : LossLayer<"CrossEntropyLoss", CrossEntropyOptions, cross_entropy> {
  using LossLayer::LossLayer;
};
/// nll_loss().
struct NLLLoss : LossLayer<"NLLLoss", CrossEntropyOptions, nll_loss> {
  using LossLayer::LossLayer;
};
/// multi_margin_loss().
struct MultiMarginLoss : LossLayer<"MultiMarginLoss", MultiMarginOptions, multi_margin_loss> {
  using LossLayer::LossLayer;
};
/// multilabel_soft_margin_loss().
struct MultiLabelSoftMarginLoss
    : LossLayer<"MultiLabelSoftMarginLoss", MultilabelOptions, multilabel_soft_margin_loss> {
  using LossLayer::LossLayer;
};
/// binary_cross_entropy().
struct BCELoss : LossLayer<"BCELoss", BinaryCrossEntropyOptions, binary_cross_entropy> {
  using LossLayer::LossLayer;
};
/// binary_cross_entropy_with_logits().
struct BCEWithLogitsLoss : LossWithOptions<BinaryCrossEntropyOptions> {
  using LossWithOptions::LossWithOptions;
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const {
    const CallScope call("BCEWithLogitsLoss", where);
    return binary_cross_entropy_with_logits(x, target, options);
  }
};
/// mse_loss().
struct MSELoss : ReducedLoss<"MSELoss", mse_loss> {
  using ReducedLoss::ReducedLoss;
};
/// l1_loss().
struct L1Loss : ReducedLoss<"L1Loss", l1_loss> {
  using ReducedLoss::ReducedLoss;
};
/// soft_margin_loss().
struct SoftMarginLoss : ReducedLoss<"SoftMarginLoss", soft_margin_loss> {
  using ReducedLoss::ReducedLoss;
};
/// smooth_l1_loss().
struct SmoothL1Loss : LossLayer<"SmoothL1Loss", SmoothL1Options, smooth_l1_loss> {
  using LossLayer::LossLayer;
};
/// huber_loss().
struct HuberLoss : LossLayer<"HuberLoss", HuberOptions, huber_loss> {
  using LossLayer::LossLayer;
};
/// poisson_nll_loss().
struct PoissonNLLLoss : LossLayer<"PoissonNLLLoss", PoissonNllOptions, poisson_nll_loss> {
  using LossLayer::LossLayer;
};
/// kl_div().
struct KLDivLoss : LossLayer<"KLDivLoss", KlDivOptions, kl_div> {
  using LossLayer::LossLayer;
};
/// hinge_embedding_loss().
struct HingeEmbeddingLoss : LossLayer<"HingeEmbeddingLoss", HingeEmbeddingOptions, hinge_embedding_loss> {
  using LossLayer::LossLayer;
};
/// gaussian_nll_loss() of x, target and variance.
struct GaussianNLLLoss : ThreeTensorLoss<"GaussianNLLLoss", GaussianNllOptions, gaussian_nll_loss> {
  using ThreeTensorLoss::ThreeTensorLoss;
};
/// margin_ranking_loss() of x1, x2 and target.
struct MarginRankingLoss : ThreeTensorLoss<"MarginRankingLoss", MarginOptions, margin_ranking_loss> {
  using ThreeTensorLoss::ThreeTensorLoss;
};
/// cosine_embedding_loss() of x1, x2 and target.
struct CosineEmbeddingLoss : ThreeTensorLoss<"CosineEmbeddingLoss", MarginOptions, cosine_embedding_loss> {
  using ThreeTensorLoss::ThreeTensorLoss;
};
/// triplet_margin_loss() of anchor, positive and negative.
struct TripletMarginLoss : ThreeTensorLoss<"TripletMarginLoss", TripletMarginOptions, triplet_margin_loss> {
  using ThreeTensorLoss::ThreeTensorLoss;
};
/// ctc_loss().
struct CTCLoss : LossWithOptions<CtcOptions> {
  using LossWithOptions::LossWithOptions;
  Tensor operator()(const Tensor& log_probabilities, const Tensor& targets, const Tensor& input_lengths,
                    const Tensor& target_lengths, Loc where = Loc::current()) const {
    const CallScope call("CTCLoss", where);
    return ctc_loss(log_probabilities, targets, input_lengths, target_lengths, options);
  }
  Tensor operator()(const Tensor& log_probabilities, const Tensor& targets, const std::vector<int64_t>& input_lengths,
                    const std::vector<int64_t>& target_lengths, Loc where = Loc::current()) const {
    const CallScope call("CTCLoss", where);
    return ctc_loss(log_probabilities, targets, input_lengths, target_lengths, options);
  }
};

}  // namespace sinter::inline v0::nn
