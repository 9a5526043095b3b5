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
  explicit MSELoss(Reduction reduction = Reduction::Mean) : reduction(reduction) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
  Reduction reduction;
  SINTER_EMPTY_MODULE()
};
/// l1_loss().
struct L1Loss {
  explicit L1Loss(Reduction reduction = Reduction::Mean) : reduction(reduction) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
  Reduction reduction;
  SINTER_EMPTY_MODULE()
};
/// soft_margin_loss().
struct SoftMarginLoss {
  explicit SoftMarginLoss(Reduction reduction = Reduction::Mean) : reduction(reduction) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
  Reduction reduction;
  SINTER_EMPTY_MODULE()
};
/// smooth_l1_loss().
struct SmoothL1Loss {
  explicit SmoothL1Loss(SmoothL1Options options = {}) : options(options) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
  SmoothL1Options options;
  SINTER_EMPTY_MODULE()
};
/// huber_loss().
struct HuberLoss {
  explicit HuberLoss(HuberOptions options = {}) : options(options) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
  HuberOptions options;
  SINTER_EMPTY_MODULE()
};
/// poisson_nll_loss().
struct PoissonNLLLoss {
  explicit PoissonNLLLoss(PoissonNllOptions options = {}) : options(options) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
  PoissonNllOptions options;
  SINTER_EMPTY_MODULE()
};
/// gaussian_nll_loss().
struct GaussianNLLLoss {
  explicit GaussianNLLLoss(GaussianNllOptions options = {}) : options(options) {}
  Tensor operator()(const Tensor& x, const Tensor& target, const Tensor& variance, Loc where = Loc::current()) const;
  GaussianNllOptions options;
  SINTER_EMPTY_MODULE()
};
/// kl_div().
struct KLDivLoss {
  explicit KLDivLoss(KlDivOptions options = {}) : options(options) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
  KlDivOptions options;
  SINTER_EMPTY_MODULE()
};
/// hinge_embedding_loss().
struct HingeEmbeddingLoss {
  explicit HingeEmbeddingLoss(HingeEmbeddingOptions options = {}) : options(options) {}
  Tensor operator()(const Tensor& x, const Tensor& target, Loc where = Loc::current()) const;
  HingeEmbeddingOptions options;
  SINTER_EMPTY_MODULE()
};
/// margin_ranking_loss().
struct MarginRankingLoss {
  explicit MarginRankingLoss(MarginOptions options = {}) : options(options) {}
  Tensor operator()(const Tensor& x1, const Tensor& x2, const Tensor& target, Loc where = Loc::current()) const;
  MarginOptions options;
  SINTER_EMPTY_MODULE()
};
/// cosine_embedding_loss().
struct CosineEmbeddingLoss {
  explicit CosineEmbeddingLoss(MarginOptions options = {}) : options(options) {}
  Tensor operator()(const Tensor& x1, const Tensor& x2, const Tensor& target, Loc where = Loc::current()) const;
  MarginOptions options;
  SINTER_EMPTY_MODULE()
};
/// triplet_margin_loss().
struct TripletMarginLoss {
  explicit TripletMarginLoss(TripletMarginOptions options = {}) : options(options) {}
  Tensor operator()(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                    Loc where = Loc::current()) const;
  TripletMarginOptions options;
  SINTER_EMPTY_MODULE()
};
/// ctc_loss().
struct CTCLoss {
  explicit CTCLoss(CtcOptions options = {}) : options(options) {}
  Tensor operator()(const Tensor& log_probabilities, const Tensor& targets, const Tensor& input_lengths,
                    const Tensor& target_lengths, Loc where = Loc::current()) const;
  Tensor operator()(const Tensor& log_probabilities, const Tensor& targets, const std::vector<int64_t>& input_lengths,
                    const std::vector<int64_t>& target_lengths, Loc where = Loc::current()) const;
  CtcOptions options;
  SINTER_EMPTY_MODULE()
};

}  // namespace nn
}  // namespace v0
}  // namespace sinter
