// Gradient clipping, between backward() and step(). It is lazy: norms and scaling become part of the step's plan.
#pragma once

#include <vector>

#include "sinter/tensor.h"

namespace sinter::inline v0::nn {

/// @defgroup clipping Gradient clipping
/// @snippet training.cpp clip
/// @{

/// The norm of all gradients of the parameters, taken as one vector: (sum |g|^p)^(1/p), or max |g| for p = infinity. A
/// lazy scalar: float64 if a gradient is, otherwise float32. Parameters without a gradient are skipped; 0 if none has
/// one. UsageError unless p > 0.
Tensor grad_norm(const std::vector<Tensor>& parameters, double p = 2.0, Loc where = Loc::current());

/// Replaces each gradient g by g * min(1, max_norm / (norm + 1e-6)) and returns norm = grad_norm(parameters, p):
/// torch.nn.utils.clip_grad_norm_. A handle to a gradient that was taken before keeps its value. UsageError unless
/// max_norm >= 0 and p > 0.
Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double p = 2.0,
                       Loc where = Loc::current());
/// The same under a name without the underscore of what writes.
inline Tensor clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, double p = 2.0,
                             Loc where = Loc::current()) {
  return clip_grad_norm_(parameters, max_norm, p, where);
}

/// Clamps each gradient to [-limit, limit]; NaN passes through: torch.nn.utils.clip_grad_value_. UsageError unless
/// limit >= 0.
void clip_grad_value_(const std::vector<Tensor>& parameters, double limit, Loc where = Loc::current());
/// The same under a name without the underscore of what writes.
inline void clip_grad_value(const std::vector<Tensor>& parameters, double limit, Loc where = Loc::current()) {
  clip_grad_value_(parameters, limit, where);
}
/// @}

}  // namespace sinter::inline v0::nn
