// Gradients as values, and a scope without history.
#pragma once

#include <span>
#include <vector>

#include "sinter/custom_gradient.h"
#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup gradients Gradients as values
/// The corresponding methods of tensors: Tensor::backward().
/// @snippet gradients.cpp gradient
/// @{

/// d y / d x for each x, as lazy tensors that can be differentiated again. Pure: consumes nothing. y is a scalar, or
/// `seed` gives a factor per element of y, in its shape and dtype. An x that does not require grad, or that y does not
/// depend on, is a UsageError. Each gradient has the shape and dtype of its x.
std::vector<Tensor> gradient(const Tensor& y, std::span<const Tensor> xs, const Tensor& seed = {},
                             Loc where = Loc::current());
/// The same: gradient(y, {a, b}).
inline std::vector<Tensor> gradient(const Tensor& y, std::initializer_list<Tensor> xs, const Tensor& seed = {},
                                    Loc where = Loc::current()) {
  return gradient(y, std::span<const Tensor>(xs.begin(), xs.size()), seed, where);
}

/// @}

/// While alive, tensors that the calling thread builds record no history.
class no_grad {
 public:
  [[nodiscard("it ends at once: give it a name")]] no_grad();  ///< disables history in this thread
  ~no_grad();                                                  ///< restores the previous state
  no_grad(const no_grad&) = delete;
  no_grad& operator=(const no_grad&) = delete;

 private:
  bool before_;
};
using NoGradGuard = no_grad;  ///< the name in libtorch
/// While alive, values have history again, inside a no_grad.
class enable_grad {
 public:
  [[nodiscard("it ends at once: give it a name")]] enable_grad();  ///< enables history in this thread
  ~enable_grad();                                                  ///< restores the previous state
  enable_grad(const enable_grad&) = delete;
  enable_grad& operator=(const enable_grad&) = delete;

 private:
  bool before_;
};

}  // namespace sinter::inline v0
