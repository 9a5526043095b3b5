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
/// broadcasts x against the parameters; a value outside of the support has -inf. `mean()`, `variance()` and `stddev()`
/// are those of one draw.
/// @snippet distributions.cpp policy
/// @{

/// The normal distribution.
class Normal {
 public:
  Normal(Arg loc, Arg scale);                                                 ///< scale > 0
  Tensor sample(const Shape& shape = {}, RandomOptions options = {}) const;   ///< rsample() without a gradient
  Tensor rsample(const Shape& shape = {}, RandomOptions options = {}) const;  ///< loc + scale * randn
  Tensor log_prob(Arg x) const;                       ///< -((x - loc) / scale)^2 / 2 - log(scale) - log(2 pi) / 2
  Tensor entropy(Loc where = Loc::current()) const;   ///< (1 + log(2 pi)) / 2 + log(scale)
  const Tensor& loc() const { return loc_; }          ///< broadcast to the shape of one draw
  const Tensor& scale() const { return scale_; }      ///< broadcast to the shape of one draw
  const Tensor& mean() const { return loc_; }         ///< loc
  const Tensor& stddev() const { return scale_; }     ///< scale
  Tensor variance(Loc where = Loc::current()) const;  ///< scale^2

 private:
  Tensor loc_, scale_;
};

/// The uniform distribution on [low, high).
class Uniform {
 public:
  Uniform(Arg low, Arg high);                                                 ///< low < high
  Tensor sample(const Shape& shape = {}, RandomOptions options = {}) const;   ///< rsample() without a gradient
  Tensor rsample(const Shape& shape = {}, RandomOptions options = {}) const;  ///< low + (high - low) * rand
  Tensor log_prob(Arg x) const;                                               ///< -log(high - low), -inf outside
  Tensor entropy(Loc where = Loc::current()) const;                           ///< log(high - low)
  Tensor mean(Loc where = Loc::current()) const;                              ///< (low + high) / 2
  Tensor variance(Loc where = Loc::current()) const;                          ///< (high - low)^2 / 12
  Tensor stddev(Loc where = Loc::current()) const;                            ///< sqrt(variance)
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
  Tensor log_prob(Arg x) const;                       ///< of 0, 1, or what lies between: x * logits - log(1 + e^logits)
  Tensor entropy(Loc where = Loc::current()) const;   ///< -p log p - (1 - p) log (1 - p)
  const Tensor& logits() const { return logits_; }    ///< log(p / (1 - p))
  Tensor probs(Loc where = Loc::current()) const;     ///< p, as given
  Tensor mean(Loc where = Loc::current()) const;      ///< p
  Tensor variance(Loc where = Loc::current()) const;  ///< p (1 - p)
  Tensor stddev(Loc where = Loc::current()) const;    ///< sqrt(variance)

 private:
  Tensor logits_, probs_;  ///< probs_: empty if the logits were given
};

/// Classes along the last axis. They have no mean.
class Categorical {
 public:
  /// Of [.., classes]; probabilities may have any positive sum. UsageError unless one of both is given.
  explicit Categorical(const Odds& odds, Loc where = Loc::current());
  Tensor sample(const Shape& shape = {}, RandomOptions options = {}) const;  ///< int64
  /// Of classes, integers that broadcast against the rows of the logits. A class that does not exist throws at the
  /// first host read.
  Tensor log_prob(const Tensor& classes, Loc where = Loc::current()) const;
  Tensor entropy(Loc where = Loc::current()) const;  ///< -sum p log p
  const Tensor& logits() const { return logits_; }   ///< log probabilities, normalized
  Tensor probs(Loc where = Loc::current()) const;    ///< softmax of the logits

 private:
  Tensor logits_;
};

/// How the spread of a MultivariateNormal is given, by name; of [.., n, n].
struct Spread {
  Tensor covariance_matrix = {};  ///< positive definite
  Tensor precision_matrix = {};   ///< its inverse
  Tensor scale_tril = {};         ///< lower triangles l; the covariance is l l^T
};

/// The normal distribution of vectors along the last axis.
class MultivariateNormal {
 public:
  /// loc [.., n], covariance [.., n, n], whose batches broadcast. Decomposed by cholesky().
  MultivariateNormal(Arg loc, Arg covariance);
  /// The same by name: MultivariateNormal(loc, {.scale_tril = l}). UsageError unless one of the three is given.
  MultivariateNormal(Arg loc, const Spread& spread);
  Tensor sample(const Shape& shape = {}, RandomOptions options = {}) const;   ///< rsample() without a gradient
  Tensor rsample(const Shape& shape = {}, RandomOptions options = {}) const;  ///< loc + l randn
  Tensor log_prob(Arg x) const;                                ///< -(|l^-1 (x - loc)|^2 + n log(2 pi)) / 2 - log det l
  Tensor entropy(Loc where = Loc::current()) const;            ///< n (1 + log(2 pi)) / 2 + log det l
  Tensor covariance_matrix(Loc where = Loc::current()) const;  ///< l l^T, [.., n, n]
  Tensor precision_matrix(Loc where = Loc::current()) const;   ///< its inverse
  const Tensor& scale_tril() const { return l_; }              ///< l, with the batches of loc
  const Tensor& loc() const { return loc_; }                   ///< broadcast to the shape of one draw
  const Tensor& mean() const { return loc_; }                  ///< loc
  Tensor variance(Loc where = Loc::current()) const;           ///< of each element: the covariance's diagonal
  Tensor stddev(Loc where = Loc::current()) const;             ///< sqrt(variance)

 private:
  void set(const Tensor& loc, const Tensor& l);
  Tensor loc_, l_;
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
