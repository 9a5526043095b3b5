// Gradients as values, and the scope without them.
#pragma once

#include <span>
#include <vector>

#include "sinter/tensor.h"

namespace sinter {
inline namespace v0 {

/// @defgroup gradients Gradients as values
/// As calls of tensors: Tensor::backward().
/// @snippet gradients.cpp gradient
/// @{

/// d y / d x for each x, as lazy tensors that can be differentiated again. Pure: consumes nothing. y is a scalar (or
/// `seed` gives the factor per element of y, of its shape and dtype). An x that does not require grad, or that y does
/// not use, is a UsageError. Each gradient has the shape and dtype of its x.
std::vector<Tensor> gradient(const Tensor& y, std::span<const Tensor> xs, const Tensor& seed = {},
                             Loc where = Loc::current());
/// The same: gradient(y, {a, b}).
inline std::vector<Tensor> gradient(const Tensor& y, std::initializer_list<Tensor> xs, const Tensor& seed = {},
                                    Loc where = Loc::current()) {
  return gradient(y, std::span<const Tensor>(xs.begin(), xs.size()), seed, where);
}

/// @}

/// While alive, what the calling thread builds records no history.
class no_grad {
 public:
  no_grad();   ///< switches history off in this thread
  ~no_grad();  ///< as it was before
  no_grad(const no_grad&) = delete;
  no_grad& operator=(const no_grad&) = delete;

 private:
  bool before_;
};

}  // namespace v0
}  // namespace sinter
