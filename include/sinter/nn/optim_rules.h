// More optimizers, beside those of optim.h. Names, options and defaults are PyTorch's. Each takes a list of parameters
// with options, or groups of parameters with options of their own. In the formulas g is the gradient, negated with
// `maximize`, t counts the updates of a parameter from 1, and unless said otherwise g includes weight_decay * p.
#pragma once

#include <string>

#include "sinter/nn/optim.h"

namespace sinter::inline v0::optim {

/// Options of RMSprop.
struct RMSpropOptions {
  double lr = 1e-2, alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0;
  bool centered = false;  ///< divides by the standard deviation, not by the root mean square
  bool maximize = false;
  void check(Loc where) const;  ///< UsageError unless alpha is in [0, 1) and the others are finite and at least 0.
};
/// v = alpha v + (1 - alpha) g^2; d = g / (sqrt(v) + eps), where centered takes a running mean of g, squared, from v;
/// p -= lr d, or lr b with b = momentum b + d. Tieleman and Hinton, 2012. State: square_avg (v), momentum_buffer (b) if
/// momentum is not 0, grad_avg if centered.
class RMSprop final : public UpdateRule<"RMSprop", RMSpropOptions> {
 public:
  using UpdateRule::UpdateRule;

 private:
  Tensor next(Update& update, const Options& o, const Tensor& p) override;
  State square_ = make_state("square_avg");
  State momentum_ = make_state_if(&Options::momentum, "momentum_buffer");
  State mean_ = make_state_if(&Options::centered, "grad_avg");
};

/// Options of Adagrad.
struct AdagradOptions {
  double lr = 1e-2, lr_decay = 0, weight_decay = 0;
  double initial_accumulator_value = 0;  ///< of the state; the first group's holds for all
  double eps = 1e-10;
  bool maximize = false;
  void check(Loc where) const;  ///< UsageError unless all are finite and at least 0.
};
/// s += g^2; p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps). Duchi, Hazan and Singer, JMLR 2011. State: sum (s).
class Adagrad final : public UpdateRule<"Adagrad", AdagradOptions> {
 public:
  using UpdateRule::UpdateRule;

 private:
  Tensor next(Update& update, const Options& o, const Tensor& p) override;
  State sum_ = make_state("sum", options().initial_accumulator_value);
};

/// Options of Adadelta.
struct AdadeltaOptions {
  double lr = 1, rho = 0.9, eps = 1e-6, weight_decay = 0;
  bool maximize = false;
  void check(Loc where) const;  ///< UsageError unless rho is in [0, 1) and the others are finite and at least 0.
};
/// v = rho v + (1 - rho) g^2; d = sqrt((u + eps) / (v + eps)) g; u = rho u + (1 - rho) d^2; p -= lr d. Zeiler, 2012.
/// State: square_avg (v), acc_delta (u).
class Adadelta final : public UpdateRule<"Adadelta", AdadeltaOptions> {
 public:
  using UpdateRule::UpdateRule;

 private:
  Tensor next(Update& update, const Options& o, const Tensor& p) override;
  State square_ = make_state("square_avg"), delta_ = make_state("acc_delta");
};

/// Options of NAdam.
struct NAdamOptions {
  double lr = 2e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0, momentum_decay = 4e-3;
  bool decoupled_weight_decay = false;  ///< p -= lr weight_decay p, and nothing is added to g
  bool maximize = false;
  void check(Loc where) const;  ///< UsageError unless betas are in [0, 1) and the others are finite and at least 0.
};
/// Adam with Nesterov's momentum, whose share mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2) grows:
/// p -= lr (mu_{t+1} m / (1 - mu_1 .. mu_{t+1}) + (1 - mu_t) g / (1 - mu_1 .. mu_t)) / (sqrt(v / (1 - beta2^t)) + eps).
/// Dozat, 2016. State: exp_avg (m), exp_avg_sq (v). The product of the shares follows from t and the options.
class NAdam final : public UpdateRule<"NAdam", NAdamOptions> {
 public:
  using UpdateRule::UpdateRule;

 private:
  Tensor next(Update& update, const Options& o, const Tensor& p) override;
  double product_of_shares(size_t group, const Options& o, int64_t t);
  struct Product {
    double beta1 = 0, momentum_decay = 0, value = 1;
    int64_t t = 0;
  };
  std::vector<Product> products_;  ///< the last one of each group
  State first_ = make_state("exp_avg"), second_ = make_state("exp_avg_sq");
};

/// Options of RAdam.
struct RAdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  bool decoupled_weight_decay = false;  ///< p -= lr weight_decay p, and nothing is added to g
  bool maximize = false;
  void check(Loc where) const;  ///< UsageError unless betas are in [0, 1) and the others are finite and at least 0.
};
/// Adam without its division while the variance of that is large, and with a factor for it afterwards. Liu et al.,
/// ICLR 2020. State: exp_avg (m), exp_avg_sq (v).
class RAdam final : public UpdateRule<"RAdam", RAdamOptions> {
 public:
  using UpdateRule::UpdateRule;

 private:
  Tensor next(Update& update, const Options& o, const Tensor& p) override;
  State first_ = make_state("exp_avg"), second_ = make_state("exp_avg_sq");
};

/// Options of ASGD.
struct ASGDOptions {
  double lr = 1e-2, lambd = 1e-4, alpha = 0.75, t0 = 1e6, weight_decay = 0;
  bool maximize = false;
  void check(Loc where) const;  ///< UsageError unless all are finite and at least 0.
};
/// Averaged descent: p -= eta (g + lambd p), with eta = lr / (1 + lambd lr (t - 1))^alpha; the mean of the p since step
/// t0 is the state "ax". Polyak and Juditsky, 1992. PyTorch's takes the lr of the step before for eta.
class ASGD final : public UpdateRule<"ASGD", ASGDOptions> {
 public:
  using UpdateRule::UpdateRule;

 private:
  Tensor next(Update& update, const Options& o, const Tensor& p) override;
  State mean_ = make_state("ax");
};

/// Options of Rprop.
struct RpropOptions {
  double lr = 1e-2;  ///< the first step of each element
  double etaminus = 0.5, etaplus = 1.2, step_min = 1e-6, step_max = 50;
  bool maximize = false;
  void check(Loc where) const;  ///< UsageError unless 0 < etaminus < 1 < etaplus, and 0 <= step_min <= step_max.
};
/// Each element has a step of its own, which grows by etaplus while its gradient keeps its sign, and shrinks by
/// etaminus, without moving, when that changes; p -= sign(g) step. For whole batches. Riedmiller and Braun, 1993.
/// State: prev (the gradient before, 0 after a change of sign), step_size.
class Rprop final : public UpdateRule<"Rprop", RpropOptions> {
 public:
  using UpdateRule::UpdateRule;

 private:
  Tensor next(Update& update, const Options& o, const Tensor& p) override;
  State before_ = make_state("prev"), size_ = make_state("step_size");
};

/// Options of Adamax.
struct AdamaxOptions {
  double lr = 2e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  bool maximize = false;
  void check(Loc where) const;  ///< UsageError unless betas are in [0, 1) and the others are finite and at least 0.
};
/// m = beta1 m + (1 - beta1) g; u = max(beta2 u, |g| + eps); p -= lr m / ((1 - beta1^t) u). Kingma and Ba, ICLR 2015.
/// State: exp_avg (m), exp_inf (u).
class Adamax final : public UpdateRule<"Adamax", AdamaxOptions> {
 public:
  using UpdateRule::UpdateRule;

 private:
  Tensor next(Update& update, const Options& o, const Tensor& p) override;
  State mean_ = make_state("exp_avg"), largest_ = make_state("exp_inf");
};

/// Options of Lion.
struct LionOptions {
  double lr = 1e-4, beta1 = 0.9, beta2 = 0.99, weight_decay = 0;
  bool maximize = false;
  void check(Loc where) const;  ///< UsageError unless betas are in [0, 1) and the others are finite and at least 0.
};
/// p -= lr (sign(beta1 m + (1 - beta1) g) + weight_decay p); m = beta2 m + (1 - beta2) g. Chen et al., NeurIPS 2023.
/// State: exp_avg (m).
class Lion final : public UpdateRule<"Lion", LionOptions> {
 public:
  using UpdateRule::UpdateRule;

 private:
  Tensor next(Update& update, const Options& o, const Tensor& p) override;
  State mean_ = make_state("exp_avg");
};

/// Options of LAMB.
struct LAMBOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-6, weight_decay = 1e-2;
  bool maximize = false;
  void check(Loc where) const;  ///< UsageError unless betas are in [0, 1) and the others are finite and at least 0.
};
/// d = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps) + weight_decay p, with Adam's m and v; p -= lr r d, where r
/// is the norm of p over the norm of d, and 1 if one of them is 0. You et al., ICLR 2020. State: exp_avg, exp_avg_sq.
class LAMB final : public UpdateRule<"LAMB", LAMBOptions> {
 public:
  using UpdateRule::UpdateRule;

 private:
  Tensor next(Update& update, const Options& o, const Tensor& p) override;
  State first_ = make_state("exp_avg"), second_ = make_state("exp_avg_sq");
};

/// Options of Muon.
struct MuonOptions {
  /// What multiplies lr for a matrix [a, b]: Original sqrt(max(1, a / b)), MatchRmsAdamW 0.2 sqrt(max(a, b)),
  /// SpectralUnclamped sqrt(a / b).
  enum class AdjustLr : uint8_t { Original, MatchRmsAdamW, SpectralUnclamped };
  double lr = 1e-3, weight_decay = 0.1, momentum = 0.95;
  bool nesterov = true;
  double a = 3.4445, b = -4.7750, c = 2.0315;  ///< x = a x + b (x x^T) x + c (x x^T)^2 x
  double eps = 1e-7;                           ///< least norm that x is divided by
  int ns_steps = 5;
  AdjustLr adjust_lr = AdjustLr::Original;
  DType ns_dtype = bfloat16;  ///< the products of the iteration take it
  /// UsageError unless momentum is in [0, 1), ns_steps is from 1 to 99, and the others are finite and at least 0.
  void check(Loc where) const;
};
/// Momentum, made orthogonal by a Newton-Schulz iteration: for the matrices of hidden layers; give the rest to AdamW.
/// m = momentum m + (1 - momentum) g; p -= lr (weight_decay p + adjusted x), where x starts from m, or with nesterov
/// from momentum m + (1 - momentum) g. UsageError for a parameter that has not two axes. Jordan et al., 2024. State:
/// momentum_buffer (m).
class Muon final : public UpdateRule<"Muon", MuonOptions> {
 public:
  explicit Muon(std::vector<Tensor> parameters, Options options = {}, Loc where = Loc::current());
  /// The same with several groups.
  explicit Muon(const std::vector<ParamGroup<Options>>& groups, Loc where = Loc::current());

 private:
  Tensor next(Update& update, const Options& o, const Tensor& p) override;
  void check_parameter(const Tensor& parameter, const std::string& which, Loc where) const override;
  State momentum_ = make_state("momentum_buffer");
};

}  // namespace sinter::inline v0::optim
