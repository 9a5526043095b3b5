#include "sinter/nn/grad_scaler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nn/layer_checks.h"
#include "sinter/create.h"
#include "sinter/gradient.h"
#include "sinter/nn/state.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::optim {

using namespace tensor;

GradScaler::GradScaler(Options options, Loc where) : options_(options), scale_(options.init_scale) {
  const OuterCall call("GradScaler", where);
  const auto positive = [](double x) { return std::isfinite(x) && x > 0; };
  if (!positive(options.init_scale) || !positive(options.backoff_factor) || options.backoff_factor > 1)
    usage_error("init_scale is {} and backoff_factor {}; give numbers above 0, the second at most 1",
                options.init_scale, options.backoff_factor);
  if (!std::isfinite(options.growth_factor) || options.growth_factor < 1 || options.growth_interval < 1)
    usage_error("growth_factor is {} and growth_interval {}; both are at least 1", options.growth_factor,
                options.growth_interval);
}

Tensor GradScaler::scale(const Tensor& loss, Loc where) const {
  if (!options_.enabled) return loss;
  const OuterCall call("scale", where);
  const DType dtype = is_float(loss.dtype()) ? promote(loss.dtype(), float32) : float32;  // the scale may be large
  return loss.to(dtype) * number(scale_, dtype, loss.device());
}

GradScaler::Progress* GradScaler::progress_of(const Optimizer& optimizer) {
  const auto found = std::ranges::find_if(unscaled_, [&](const Progress& p) { return p.optimizer == &optimizer; });
  return found == unscaled_.end() ? nullptr : &*found;
}

void GradScaler::unscale(Optimizer& optimizer, Loc where) {
  if (!options_.enabled) return;
  const OuterCall call("unscale", where);
  if (progress_of(optimizer))
    usage_error("the gradients of this optimizer are divided by the scale already; call update() after its step");
  const auto& parameters = optimizer.parameters();
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].has_grad() && parameters[i].dtype() == float16)
      usage_error(
          "the gradient of parameter {} of {} is float16, where one divided by the scale may become "
          "zero; keep the weights float32 and compute the loss under autocast(float16)",
          i, parameters.size());
  const no_grad guard;
  for (Tensor p : parameters)
    if (p.has_grad()) p.set_grad(p.grad() * number(1 / scale_, p.dtype(), p.device()));
  unscaled_.push_back({&optimizer, false});
}

bool GradScaler::step(Optimizer& optimizer, Loc where) {
  if (!options_.enabled) {
    optimizer.step(where);
    return true;
  }
  if (!progress_of(optimizer)) unscale(optimizer, where);
  const OuterCall call("step", where);
  if (std::exchange(progress_of(optimizer)->stepped, true))
    usage_error("this optimizer had its step; call update() before the next one");
  std::vector<Tensor> made;  // gradients, which the flags and the step read, and the flags
  bool finite = true;
  {
    const no_grad guard;
    for (const Tensor& p : optimizer.parameters())
      if (p.has_grad()) made.push_back(p.grad());
    const size_t gradients = made.size();
    for (size_t i = 0; i < gradients; ++i) made.push_back(isfinite(made[i]).all());
    realize_all(made, where);
    for (size_t i = gradients; i < made.size(); ++i) finite &= made[i].item<bool>();
  }
  if (finite)
    optimizer.step(where);
  else
    optimizer.zero_grad();
  skipped_ |= !finite;
  return finite;
}

void GradScaler::update() {
  if (!options_.enabled) return;
  const DefaultFloatEnv floats;  // the scale lies in memory
  if (skipped_) {
    scale_ *= options_.backoff_factor;
    growth_tracker_ = 0;
  } else if (++growth_tracker_ >= options_.growth_interval) {
    const double larger = scale_ * options_.growth_factor;
    if (larger <= std::numeric_limits<float>::max()) scale_ = larger;
    growth_tracker_ = 0;
  }
  skipped_ = false;
  unscaled_.clear();
}

nn::NamedTensors GradScaler::state_dict() const {
  return {{"scale", from(std::vector<double>{scale_}, Shape{}, Device::cpu())},
          {"growth_tracker", from(std::vector<int64_t>{growth_tracker_}, Shape{}, Device::cpu())}};
}

void GradScaler::load(const nn::NamedTensors& from, Loc where) {
  const OuterCall call("load", where);
  const nn::NamedTensors into = state_dict();
  nn::load(into, from, {}, where);
  const double scale = into[0].second.item<double>();
  const int64_t tracker = into[1].second.item<int64_t>();
  if (!std::isfinite(scale) || scale <= 0 || tracker < 0)
    usage_error(
        "the scale is {} and growth_tracker {}; load the state_dict() of a GradScaler, whose scale is "
        "above 0 and whose growth_tracker is at least 0",
        scale, tracker);
  scale_ = scale;
  growth_tracker_ = tracker;
}

}  // namespace sinter::inline v0::optim
