// Gradients as values, and the scope without them.
#pragma once

#include <span>
#include <vector>

#include "sinter/tensor.h"

namespace sinter {
inline namespace v0 {

/// d y / d x for each x, as lazy tensors that can be differentiated again. Pure: consumes nothing. y is a scalar (or
/// `seed` gives the factor per element of y). An x that does not require grad, or that y does not use, is a UsageError.
std::vector<Tensor> gradient(const Tensor& y, std::span<const Tensor> xs, const Tensor& seed = {}, Loc where = Loc::current());
inline std::vector<Tensor> gradient(const Tensor& y, std::initializer_list<Tensor> xs, Loc where = Loc::current()) {
  return gradient(y, std::span<const Tensor>(xs.begin(), xs.size()), {}, where);
}

/// While alive, what the calling thread builds records no history.
class no_grad {
 public:
  no_grad();
  ~no_grad();
  no_grad(const no_grad&) = delete;
  no_grad& operator=(const no_grad&) = delete;

 private:
  bool before_;
};

}  // namespace v0
}  // namespace sinter
