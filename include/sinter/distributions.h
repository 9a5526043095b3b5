// Distributions as objects: what is drawn, how likely it is, how uncertain. As torch.distributions, for reinforcement
// learning and variational models.
#pragma once

#include "sinter/random.h"
#include "sinter/tensor.h"

namespace sinter::inline v0 {
/// Distributions as objects.
namespace distributions {

/// @defgroup distributions Distributions
/// Parameters are tensors or numbers that broadcast; their common shape is that of one draw. `sample(shape)` draws of
/// shape `shape` + that, without a gradient; `rsample` is the same with gradients through the parameters. `log_prob(x)`
/// broadcasts x against the parameters; a value outside of the support has -inf.
/// @snippet distributions.cpp policy
/// @{

/// The normal distribution.
class Normal {
 public:
  Normal(Arg mean, Arg deviation);                                            ///< deviation > 0
  Tensor sample(const Shape& shape = {}, RandomOptions options = {}) const;   ///< rsample() without a gradient
  Tensor rsample(const Shape& shape = {}, RandomOptions options = {}) const;  ///< mean + deviation * randn
  Tensor log_prob(Arg x) const;  ///< -((x - mean) / deviation)^2 / 2 - log(deviation) - log(2 pi) / 2
  Tensor entropy(Loc where = Loc::current()) const;       ///< (1 + log(2 pi)) / 2 + log(deviation)
  const Tensor& mean() const { return mean_; }            ///< broadcast to the shape of one draw
  const Tensor& deviation() const { return deviation_; }  ///< broadcast to the shape of one draw

 private:
  Tensor mean_, deviation_;
};

/// The uniform distribution on [low, high).
class Uniform {
 public:
  Uniform(Arg low, Arg high);                                                 ///< low < high
  Tensor sample(const Shape& shape = {}, RandomOptions options = {}) const;   ///< rsample() without a gradient
  Tensor rsample(const Shape& shape = {}, RandomOptions options = {}) const;  ///< low + (high - low) * rand
  Tensor log_prob(Arg x) const;                                               ///< -log(high - low), -inf outside
  Tensor entropy(Loc where = Loc::current()) const;                           ///< log(high - low)
  const Tensor& low() const { return low_; }                                  ///< broadcast to the shape of one draw
  const Tensor& high() const { return high_; }                                ///< broadcast to the shape of one draw

 private:
  Tensor low_, high_;
};

/// How Bernoulli and Categorical are given, by name: Categorical({.logits = x}) or Categorical({.probs = p}).
struct Odds {
  Tensor logits = {};  ///< floats; their sigmoid or softmax are the probabilities
  Tensor probs = {};   ///< probabilities
};

/// True with probability p.
class Bernoulli {
 public:
  /// Of log odds, or of 0 <= p <= 1. UsageError unless one of both is given. As in PyTorch, the log odds are those of a
  /// p that is at least the type's epsilon from 0 and 1. They are NaN for a p outside.
  explicit Bernoulli(const Odds& odds, Loc where = Loc::current());
  Tensor sample(const Shape& shape = {}, RandomOptions options = {}) const;  ///< 0 or 1 in the logits' type
  Tensor log_prob(Arg x) const;                      ///< of 0, 1, or what lies between: x * logits - log(1 + e^logits)
  Tensor entropy(Loc where = Loc::current()) const;  ///< -p log p - (1 - p) log (1 - p)
  const Tensor& logits() const { return logits_; }   ///< log(p / (1 - p))
  Tensor probabilities(Loc where = Loc::current()) const;  ///< p, as given

 private:
  Tensor logits_, probs_;  ///< probs_: empty if the logits were given
};

/// Classes along the last axis.
class Categorical {
 public:
  /// Of [.., classes]; probabilities may have any positive sum. UsageError unless one of both is given.
  explicit Categorical(const Odds& odds, Loc where = Loc::current());
  Tensor sample(const Shape& shape = {}, RandomOptions options = {}) const;  ///< int64
  /// Of classes, integers that broadcast against the rows of the logits. A class that does not exist throws at the
  /// first host read.
  Tensor log_prob(const Tensor& classes, Loc where = Loc::current()) const;
  Tensor entropy(Loc where = Loc::current()) const;        ///< -sum p log p
  const Tensor& logits() const { return logits_; }         ///< log probabilities, normalized
  Tensor probabilities(Loc where = Loc::current()) const;  ///< softmax of the logits

 private:
  Tensor logits_;
};

/// The normal distribution of vectors along the last axis. Its covariance is positive definite.
class MultivariateNormal {
 public:
  /// mean [.., n], covariance [.., n, n], whose batches broadcast. Decomposed by cholesky().
  MultivariateNormal(Arg mean, Arg covariance);
  /// The covariance as l l^T with lower triangles l.
  static MultivariateNormal of_factor(Arg mean, Arg l);
  Tensor sample(const Shape& shape = {}, RandomOptions options = {}) const;   ///< rsample() without a gradient
  Tensor rsample(const Shape& shape = {}, RandomOptions options = {}) const;  ///< mean + l randn
  Tensor log_prob(Arg x) const;                         ///< -(|l^-1 (x - mean)|^2 + n log(2 pi)) / 2 - log det l
  Tensor entropy(Loc where = Loc::current()) const;     ///< n (1 + log(2 pi)) / 2 + log det l
  Tensor covariance(Loc where = Loc::current()) const;  ///< l l^T, [.., n, n]
  const Tensor& mean() const { return mean_; }          ///< broadcast to the shape of one draw
  const Tensor& factor() const { return l_; }           ///< l, [.., n, n], with the batches of the mean

 private:
  MultivariateNormal() = default;
  void set(const Tensor& mean, const Tensor& l);
  Tensor mean_, l_;
};

/// The divergence of p from q: the mean under p of log p - log q.
Tensor kl_divergence(const Normal& p, const Normal& q, Loc where = Loc::current());
Tensor kl_divergence(const Bernoulli& p, const Bernoulli& q, Loc where = Loc::current());      ///< the same
Tensor kl_divergence(const Categorical& p, const Categorical& q, Loc where = Loc::current());  ///< the same
Tensor kl_divergence(const MultivariateNormal& p, const MultivariateNormal& q,
                     Loc where = Loc::current());  ///< the same
/// @}

}  // namespace distributions
}  // namespace sinter::inline v0
