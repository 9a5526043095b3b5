// Norms of gradients, and clipping. The formulas are in the header.
#include "sinter/nn/clip.h"

#include <cmath>

#include "nn/layer_checks.h"
#include "sinter/create.h"
#include "sinter/gradient.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::nn {
namespace {

using namespace tensor;

Tensor power_sum(const Tensor& g, double p) {
  if (std::isinf(p)) return abs(g).max();
  if (p == 2) return square(g).sum();
  return (p == 1 ? abs(g) : pow(abs(g), p)).sum();
}

}  // namespace

Tensor grad_norm(const std::vector<Tensor>& parameters, double p, Loc where) {
  const OuterCall call("grad_norm", where);
  if (!(p > 0)) usage_error("p is {}; a norm needs one above 0, or infinity", p);
  const no_grad guard;
  DType dtype = float32;
  for (const Tensor& t : parameters)
    if (t.has_grad()) dtype = promote(dtype, t.dtype());
  Tensor total;
  for (const Tensor& t : parameters) {
    if (!t.has_grad() || !t.numel()) continue;
    const Tensor part = power_sum(t.grad().to(dtype), p);
    if (!total.defined()) {
      total = part;
      continue;
    }
    const Tensor here = part.to(total.device());
    total = std::isinf(p) ? maximum(total, here) : total + here;
  }
  if (!total.defined()) return zeros({}, dtype);
  return p == 2 ? sqrt(total) : p == 1 || std::isinf(p) ? total : pow(total, 1 / p);
}

Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double p, Loc where) {
  const OuterCall call("clip_grad_norm_", where);
  if (!(max_norm >= 0)) usage_error_at(where, "clip_grad_norm_: max_norm is {}; give one of at least 0", max_norm);
  const no_grad guard;
  const Tensor norm = grad_norm(parameters, p, where);
  const Tensor factor = minimum(max_norm / (norm + 1e-6), 1.0);
  for (Tensor t : parameters)
    if (t.has_grad()) t.set_grad(t.grad() * factor.to(t.dtype()).to(t.device()));
  return norm;
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double limit, Loc where) {
  const OuterCall call("clip_grad_value_", where);
  if (!(limit >= 0)) usage_error_at(where, "clip_grad_value_: limit is {}; give one of at least 0", limit);
  const no_grad guard;
  for (Tensor t : parameters)
    if (t.has_grad()) t.set_grad(clamp(t.grad(), -limit, limit));
}

}  // namespace sinter::inline v0::nn
