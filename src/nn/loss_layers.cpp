// The layers of include/sinter/nn/loss_layers.h.
#include "sinter/nn/loss_layers.h"

#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter {
inline namespace v0 {
namespace nn {

Tensor CrossEntropyLoss::operator()(const Tensor& x, const Tensor& target, Loc where) const {
  const tensor::OuterCall call("CrossEntropyLoss", where);
  return cross_entropy(x, target, options);
}
Tensor NLLLoss::operator()(const Tensor& x, const Tensor& target, Loc where) const {
  const tensor::OuterCall call("NLLLoss", where);
  return nll_loss(x, target, options);
}
Tensor MultiMarginLoss::operator()(const Tensor& x, const Tensor& target, Loc where) const {
  const tensor::OuterCall call("MultiMarginLoss", where);
  return multi_margin_loss(x, target, options);
}
Tensor MultiLabelSoftMarginLoss::operator()(const Tensor& x, const Tensor& target, Loc where) const {
  const tensor::OuterCall call("MultiLabelSoftMarginLoss", where);
  return multilabel_soft_margin_loss(x, target, options);
}
Tensor BCELoss::operator()(const Tensor& x, const Tensor& target, Loc where) const {
  const tensor::OuterCall call("BCELoss", where);
  return binary_cross_entropy(x, target, options);
}
Tensor BCEWithLogitsLoss::operator()(const Tensor& x, const Tensor& target, Loc where) const {
  const tensor::OuterCall call("BCEWithLogitsLoss", where);
  return binary_cross_entropy_with_logits(x, target, options);
}
Tensor MSELoss::operator()(const Tensor& x, const Tensor& target, Loc where) const {
  const tensor::OuterCall call("MSELoss", where);
  return mse_loss(x, target, reduction);
}
Tensor L1Loss::operator()(const Tensor& x, const Tensor& target, Loc where) const {
  const tensor::OuterCall call("L1Loss", where);
  return l1_loss(x, target, reduction);
}
Tensor SoftMarginLoss::operator()(const Tensor& x, const Tensor& target, Loc where) const {
  const tensor::OuterCall call("SoftMarginLoss", where);
  return soft_margin_loss(x, target, reduction);
}
Tensor SmoothL1Loss::operator()(const Tensor& x, const Tensor& target, Loc where) const {
  const tensor::OuterCall call("SmoothL1Loss", where);
  return smooth_l1_loss(x, target, options);
}
Tensor HuberLoss::operator()(const Tensor& x, const Tensor& target, Loc where) const {
  const tensor::OuterCall call("HuberLoss", where);
  return huber_loss(x, target, options);
}
Tensor PoissonNLLLoss::operator()(const Tensor& x, const Tensor& target, Loc where) const {
  const tensor::OuterCall call("PoissonNLLLoss", where);
  return poisson_nll_loss(x, target, options);
}
Tensor GaussianNLLLoss::operator()(const Tensor& x, const Tensor& target, const Tensor& variance, Loc where) const {
  const tensor::OuterCall call("GaussianNLLLoss", where);
  return gaussian_nll_loss(x, target, variance, options);
}
Tensor KLDivLoss::operator()(const Tensor& x, const Tensor& target, Loc where) const {
  const tensor::OuterCall call("KLDivLoss", where);
  return kl_div(x, target, options);
}
Tensor HingeEmbeddingLoss::operator()(const Tensor& x, const Tensor& target, Loc where) const {
  const tensor::OuterCall call("HingeEmbeddingLoss", where);
  return hinge_embedding_loss(x, target, options);
}
Tensor MarginRankingLoss::operator()(const Tensor& x1, const Tensor& x2, const Tensor& target, Loc where) const {
  const tensor::OuterCall call("MarginRankingLoss", where);
  return margin_ranking_loss(x1, x2, target, options);
}
Tensor CosineEmbeddingLoss::operator()(const Tensor& x1, const Tensor& x2, const Tensor& target, Loc where) const {
  const tensor::OuterCall call("CosineEmbeddingLoss", where);
  return cosine_embedding_loss(x1, x2, target, options);
}
Tensor TripletMarginLoss::operator()(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                     Loc where) const {
  const tensor::OuterCall call("TripletMarginLoss", where);
  return triplet_margin_loss(anchor, positive, negative, options);
}
Tensor CTCLoss::operator()(const Tensor& log_probabilities, const Tensor& targets, const Tensor& input_lengths,
                           const Tensor& target_lengths, Loc where) const {
  const tensor::OuterCall call("CTCLoss", where);
  return ctc_loss(log_probabilities, targets, input_lengths, target_lengths, options);
}
Tensor CTCLoss::operator()(const Tensor& log_probabilities, const Tensor& targets,
                           const std::vector<int64_t>& input_lengths, const std::vector<int64_t>& target_lengths,
                           Loc where) const {
  const tensor::OuterCall call("CTCLoss", where);
  return ctc_loss(log_probabilities, targets, input_lengths, target_lengths, options);
}

}  // namespace nn
}  // namespace v0
}  // namespace sinter
