// Losses as layers, for programs that keep a loss beside its model. Each calls the function of its name with the
// options that it holds; what they compute stands there, in losses.h. Weights of classes are in the state_dict, as in
// PyTorch.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sinter/losses.h"
#include "sinter/nn/module.h"

namespace sinter {
inline namespace v0 {
namespace nn {

/// What a loss with a weight in its options has: that is its state.
template <class Options>
struct WeightedLoss {
  Options options;
  template <class F>
  void visit(F&& f) {
    f("weight", options.weight);
  }
  template <class F>
  void visit(F&& f) const {
    f("weight", options.weight);
  }

 protected:
  /// For the losses.
  explicit WeightedLoss(Options options) : options(std::move(options)) {}
};

/// What the other losses with options have.
template <class Options>
struct LossWithOptions {
  Options options;
  /// For the losses.
  explicit LossWithOptions(Options options = {}) : options(options) {}
  SINTER_EMPTY_MODULE()
};

/// cross_entropy().
struct CrossEntropyLoss : WeightedLoss<CrossEntropyOptions> {
  explicit CrossEntropyLoss(CrossEntropyOptions options = {}) : WeightedLoss(std::move(options)) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
};
/// nll_loss().
struct NLLLoss : WeightedLoss<CrossEntropyOptions> {
  explicit NLLLoss(CrossEntropyOptions options = {}) : WeightedLoss(std::move(options)) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
};
/// multi_margin_loss().
struct MultiMarginLoss : WeightedLoss<MultiMarginOptions> {
  explicit MultiMarginLoss(MultiMarginOptions options = {}) : WeightedLoss(std::move(options)) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
};
/// multilabel_soft_margin_loss().
struct MultiLabelSoftMarginLoss : WeightedLoss<MultilabelOptions> {
  explicit MultiLabelSoftMarginLoss(MultilabelOptions options = {}) : WeightedLoss(std::move(options)) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
};
/// binary_cross_entropy().
struct BCELoss : WeightedLoss<BinaryCrossEntropyOptions> {
  explicit BCELoss(BinaryCrossEntropyOptions options = {}) : WeightedLoss(std::move(options)) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
};
/// binary_cross_entropy_with_logits().
struct BCEWithLogitsLoss {
  explicit BCEWithLogitsLoss(BinaryCrossEntropyOptions options = {}) : options(std::move(options)) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
  BinaryCrossEntropyOptions options;
  template <class F>
  void visit(F&& f) {
    f("weight", options.weight);
    f("pos_weight", options.pos_weight);
  }
  template <class F>
  void visit(F&& f) const {
    f("weight", options.weight);
    f("pos_weight", options.pos_weight);
  }
};
/// mse_loss().
struct MSELoss {
  explicit MSELoss(LossOptions options = {}) : reduction(options.reduction) {}
  explicit MSELoss(Reduction reduction) : reduction(reduction) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
  Reduction reduction;
  SINTER_EMPTY_MODULE()
};
/// l1_loss().
struct L1Loss {
  explicit L1Loss(LossOptions options = {}) : reduction(options.reduction) {}
  explicit L1Loss(Reduction reduction) : reduction(reduction) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
  Reduction reduction;
  SINTER_EMPTY_MODULE()
};
/// soft_margin_loss().
struct SoftMarginLoss {
  explicit SoftMarginLoss(LossOptions options = {}) : reduction(options.reduction) {}
  explicit SoftMarginLoss(Reduction reduction) : reduction(reduction) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
  Reduction reduction;
  SINTER_EMPTY_MODULE()
};
/// smooth_l1_loss().
struct SmoothL1Loss : LossWithOptions<SmoothL1Options> {
  using LossWithOptions::LossWithOptions;
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
};
/// huber_loss().
struct HuberLoss : LossWithOptions<HuberOptions> {
  using LossWithOptions::LossWithOptions;
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
};
/// poisson_nll_loss().
struct PoissonNLLLoss : LossWithOptions<PoissonNllOptions> {
  using LossWithOptions::LossWithOptions;
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
};
/// gaussian_nll_loss().
struct GaussianNLLLoss : LossWithOptions<GaussianNllOptions> {
  using LossWithOptions::LossWithOptions;
  Tensor operator()(const Tensor& x, const Tensor& target, const Tensor& variance, Loc where = Loc::current()) const;
};
/// kl_div().
struct KLDivLoss : LossWithOptions<KlDivOptions> {
  using LossWithOptions::LossWithOptions;
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
};
/// hinge_embedding_loss().
struct HingeEmbeddingLoss : LossWithOptions<HingeEmbeddingOptions> {
  using LossWithOptions::LossWithOptions;
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
};
/// margin_ranking_loss().
struct MarginRankingLoss : LossWithOptions<MarginOptions> {
  using LossWithOptions::LossWithOptions;
  Tensor operator()(const Tensor& x1, const Tensor& x2, const Tensor& target, Loc where = Loc::current()) const;
};
/// cosine_embedding_loss().
struct CosineEmbeddingLoss : LossWithOptions<MarginOptions> {
  using LossWithOptions::LossWithOptions;
  Tensor operator()(const Tensor& x1, const Tensor& x2, const Tensor& target, Loc where = Loc::current()) const;
};
/// triplet_margin_loss().
struct TripletMarginLoss : LossWithOptions<TripletMarginOptions> {
  using LossWithOptions::LossWithOptions;
  Tensor operator()(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                    Loc where = Loc::current()) const;
};
/// ctc_loss().
struct CTCLoss : LossWithOptions<CtcOptions> {
  using LossWithOptions::LossWithOptions;
  Tensor operator()(const Tensor& log_probabilities, const Tensor& targets, const Tensor& input_lengths,
                    const Tensor& target_lengths, Loc where = Loc::current()) const;
  Tensor operator()(const Tensor& log_probabilities, const Tensor& targets, const std::vector<int64_t>& input_lengths,
                    const std::vector<int64_t>& target_lengths, Loc where = Loc::current()) const;
};

}  // namespace nn
}  // namespace v0
}  // namespace sinter
