// Layers. Each is a plain struct: its members can be read, replaced and copied. Calling one with a wrong shape is a
// UsageError at the caller's line.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "sinter/activations.h"
#include "sinter/indexing.h"
#include "sinter/nn/containers.h"
#include "sinter/nn/function_layer.h"

namespace sinter::inline v0::nn {

/// y = x W^T + b. x: [..., in], W: [out, in], b: [out], y: [..., out]. Both are uniform in +-1/sqrt(in), as in PyTorch.
struct Linear {
  Linear(int64_t in, int64_t out, bool bias = true, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  Tensor weight, bias;  ///< bias may be an empty handle
  SINTER_MODULE(weight, bias)
};

/// Options of Embedding.
struct EmbeddingOptions {
  std::optional<int64_t> padding_idx = {};  ///< this row begins as zeros and gets no gradient; negative from the end
};
/// Rows of a table. weight: [count, size], normal(0, 1). index: any integer tensor, y: [index..., size]. An index
/// outside [-count, count) throws at the first host read.
struct Embedding {
  Embedding(int64_t count, int64_t size, Loc where = Loc::current()) : Embedding(count, size, {}, where) {}
  Embedding(int64_t count, int64_t size, EmbeddingOptions options, Loc where = Loc::current());
  Tensor operator()(const Tensor& index, Loc where = Loc::current()) const;
  Tensor weight;
  std::optional<int64_t> padding_idx;  ///< from 0
  SINTER_MODULE(weight)
};

using sinter::BagMode;
using sinter::EmbeddingBagOptions;
/// embedding_bag() with a table. weight: [count, size], normal(0, 1), the row of padding 0. y: [bags, size].
struct EmbeddingBag {
  EmbeddingBag(int64_t count, int64_t size, EmbeddingBagOptions options = {}, Loc where = Loc::current());
  Tensor operator()(const Tensor& index, Loc where = Loc::current()) const;
  Tensor operator()(const Tensor& index, const Tensor& offsets, const Tensor& per_sample_weights = {},
                    Loc where = Loc::current()) const;
  Tensor weight;
  EmbeddingBagOptions options;  ///< padding_idx from 0
  SINTER_MODULE(weight)
};

/// Options of LayerNorm.
struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true;  ///< with weight, and
  bool bias = true;                ///< with bias
};
/// (x - mean) / sqrt(var + eps) * weight + bias over the last axes, whose sizes are `shape`.
struct LayerNorm {
  explicit LayerNorm(Shape shape, double eps = 1e-5, Loc where = Loc::current())
      : LayerNorm(std::move(shape), LayerNormOptions{.eps = eps}, where) {}
  LayerNorm(Shape shape, LayerNormOptions options, Loc where = Loc::current());
  LayerNorm(int64_t size, LayerNormOptions options, Loc where = Loc::current())
      : LayerNorm(Shape{size}, options, where) {}
  explicit LayerNorm(int64_t size, double eps = 1e-5, Loc where = Loc::current())
      : LayerNorm(Shape{size}, eps, where) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  Tensor weight, bias;  ///< may be empty handles
  Shape shape;
  double eps;
  SINTER_MODULE(weight, bias)
};

/// In training, zeroes each element with probability p and scales the others by 1/(1-p). Otherwise passes x through.
struct Dropout {
  explicit Dropout(double p = 0.5, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  double p;
  bool training = true;
  SINTER_EMPTY_MODULE()
};

/// max(x, 0).
struct ReLU : FunctionLayer<"ReLU", relu> {};

/// Joins the axes from start to end, both included, as Tensor::flatten(): [n, ...] to [n, product].
struct Flatten {
  explicit Flatten(int64_t start = 1, int64_t end = -1) : start(start), end(end) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  int64_t start, end;
  SINTER_EMPTY_MODULE()
};

/// Splits an axis into axes of these sizes, as Tensor::unflatten().
struct Unflatten {
  Unflatten(int64_t axis, Shape sizes) : axis(axis), sizes(std::move(sizes)) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  int64_t axis;
  Shape sizes;
  SINTER_EMPTY_MODULE()
};

/// cosine_similarity() of two tensors.
struct CosineSimilarity {
  explicit CosineSimilarity(int64_t axis = 1, double eps = 1e-8) : axis(axis), eps(eps) {}
  Tensor operator()(const Tensor& a, const Tensor& b, Loc where = Loc::current()) const;
  int64_t axis;
  double eps;
  SINTER_EMPTY_MODULE()
};

/// pairwise_distance() of two tensors.
struct PairwiseDistance {
  explicit PairwiseDistance(double p = 2, double eps = 1e-6, bool keepdim = false) : p(p), eps(eps), keepdim(keepdim) {}
  Tensor operator()(const Tensor& a, const Tensor& b, Loc where = Loc::current()) const;
  double p, eps;
  bool keepdim;
  SINTER_EMPTY_MODULE()
};

}  // namespace sinter::inline v0::nn
