// Rules without means of gradients: ASGD, Rprop.
#include <algorithm>
#include <cmath>

#include "nn/optim_terms.h"
#include "sinter/nn/optim_rules.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::optim {

using namespace tensor;

void ASGDOptions::check(Loc where) const {
  check_settings("ASGD", {{"lambd", lambd}, {"alpha", alpha}, {"t0", t0}, {"weight_decay", weight_decay}}, where);
}

Tensor ASGD::next(Update& update, const Options& o, const Tensor& p) {
  const DefaultFloatEnv floats;
  const auto eta = [&o](int64_t t) {
    return o.lr / std::pow(1.0 + o.lambd * o.lr * static_cast<double>(t - 1), o.alpha);
  };
  const Tensor g = descent(update.gradient(), p, o.maximize, o.weight_decay);
  const Tensor kept = update.number([&o, eta](int64_t t) { return 1.0 - o.lambd * eta(t); });
  const Tensor next = p * kept - g * update.number(eta);
  const Tensor share =
      update.number([&o](int64_t t) { return 1.0 / std::max(1.0, static_cast<double>(t - 1) - o.t0); });
  const Tensor mean = update.state(mean_);
  update.set(mean_, where(share == 1.0, next, mean + (next - mean) * share));
  return next;
}

void RpropOptions::check(Loc where) const {
  check_settings("Rprop", {{"step_min", step_min}, {"step_max", step_max}}, where);
  if (!(etaminus > 0 && etaminus < 1 && etaplus > 1 && std::isfinite(etaplus)))
    usage_error_at(where, "Rprop: etaminus is {} and etaplus {}; give a factor in (0, 1) and one above 1", etaminus,
                   etaplus);
  if (step_min > step_max)
    usage_error_at(where, "Rprop: step_min is {} and step_max {}; the first is the smaller one", step_min, step_max);
}

Tensor Rprop::next(Update& update, const Options& o, const Tensor& p) {
  const DefaultFloatEnv floats;
  const Tensor g = descent(update.gradient(), p, o.maximize, 0);
  const Tensor agrees = g * update.state(before_);
  const Tensor first = update.number([](int64_t t) { return t == 1 ? 1.0 : 0.0; });
  const Tensor size = where(first != 0.0, update.rate(), update.state(size_));
  // Products, so that the factors are numbers of the parameter's type; a choice between numbers alone is float32.
  const Tensor scaled = where(agrees > 0.0, size * o.etaplus, where(agrees < 0.0, size * o.etaminus, size));
  const Tensor step = update.set(size_, clamp(scaled, o.step_min, o.step_max));
  const Tensor moved = update.set(before_, where(agrees < 0.0, 0.0, g));
  return p - sign(moved) * step;
}

}  // namespace sinter::inline v0::optim
