// Gradient clipping, between backward() and step(). All stays lazy: norms and scaling become part of the step's plan.
#pragma once

#include <vector>

#include "sinter/tensor.h"

namespace sinter {
inline namespace v0 {
namespace nn {

/// @defgroup clipping Gradient clipping
/// @snippet training.cpp clip
/// @{

/// The norm of all gradients of the parameters, as if they were one vector: (sum |g|^p)^(1/p), or max |g| for p =
/// infinity. A lazy scalar, float64 if a gradient is, otherwise float32. Parameters without a gradient count for
/// nothing; 0 if none has one. UsageError unless p > 0.
Tensor grad_norm(const std::vector<Tensor>& parameters, double p = 2.0, Loc where = Loc::current());

/// Replaces each gradient g by g * min(1, max_norm / (norm + 1e-6)), where norm = grad_norm(parameters, p), which is
/// returned: torch.nn.utils.clip_grad_norm_. A handle to a gradient that was taken before keeps what it had. UsageError
/// unless max_norm >= 0 and p > 0.
Tensor clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, double p = 2.0,
                      Loc where = Loc::current());

/// Replaces each gradient by its elements in [-limit, limit]; NaN passes: torch.nn.utils.clip_grad_value_. UsageError
/// unless limit >= 0.
void clip_grad_value(const std::vector<Tensor>& parameters, double limit, Loc where = Loc::current());
/// @}

}  // namespace nn
}  // namespace v0
}  // namespace sinter
