// The lists are those of PyTorch's autocast for CUDA, as far as the functions exist.
#include "sinter/autocast.h"

#include "ir/contains.h"
#include "ir/short_float.h"
#include "tensor/core/autocast.h"
#include "tensor/core/cell.h"

namespace sinter {
namespace tensor {
namespace {

// clang-format off
constexpr std::string_view kNarrow[] = {
    "matmul", "mm", "bmm", "mv", "dot", "vecdot", "multi_dot", "addmm", "baddbmm", "addmv", "einsum",
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "prelu", "scaled_dot_product_attention", "attention_weights"};
constexpr std::string_view kWide[] = {
    "exp", "expm1", "log", "log1p", "log2", "log10", "pow", "rsqrt", "reciprocal",
    "tan", "acos", "asin", "cosh", "sinh", "erfinv",
    "softmax", "log_softmax", "softmin", "softplus", "logsumexp",
    "layer_norm", "group_norm", "rms_norm", "norm", "vector_norm", "matrix_norm",
    "cosine_similarity", "cdist", "pdist", "sum", "prod", "cumsum", "cumprod",
    "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "hinge_embedding_loss",
    "margin_ranking_loss", "multi_margin_loss", "soft_margin_loss", "multilabel_soft_margin_loss",
    "poisson_nll_loss", "gaussian_nll_loss", "triplet_margin_loss", "ctc_loss"};
// clang-format on

}  // namespace

constinit thread_local AutocastState autocast_state;

AutocastRule autocast_rule(std::string_view name) {
  if (contains(kNarrow, name)) return AutocastRule::Narrow;
  return contains(kWide, name) ? AutocastRule::Wide : AutocastRule::None;
}

}  // namespace tensor

inline namespace v0 {

using namespace tensor;

autocast::autocast(DType dtype, Loc where) : before_(autocast_state.dtype) {
  if (dtype != DType::F32 && !is_short_float(dtype)) {
    const OuterCall call("autocast", where);
    usage_error("cannot compute in {}; give bfloat16 or float16, or float32 to end a scope", name_of(dtype));
  }
  autocast_state.dtype = dtype == DType::F32 ? DType::Void : dtype;
}
autocast::~autocast() { autocast_state.dtype = before_; }

}  // namespace v0
}  // namespace sinter
