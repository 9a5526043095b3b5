// Loss scaling for training in float16.
#pragma once

#include <cstdint>

#include "sinter/nn/optim.h"

namespace sinter::inline v0::optim {

/// UsageError unless init_scale and backoff_factor are above 0, growth_factor is at least 1, backoff_factor at most 1,
/// and growth_interval at least 1.
struct GradScalerOptions {
  double init_scale = 65536, growth_factor = 2, backoff_factor = 0.5;
  int64_t growth_interval = 2000;
  bool enabled = true;  ///< false: scale() returns its argument, step() is the optimizer's, update() does nothing
};

/// Keeps what backward() computes in float16 within its range, where the loss was computed under autocast(float16): the
/// loss is multiplied by a scale, the gradients of the float32 weights are divided by it before the step, and a step
/// whose gradients are not finite is left out. As torch.amp.GradScaler. bfloat16 has the range of float32 and needs
/// none.
/// @snippet training.cpp scaler
class GradScaler {
 public:
  using Options = GradScalerOptions;  ///< as GradScaler::Options{.init_scale = 1024}
  explicit GradScaler(Options options = {}, Loc where = Loc::current());

  /// loss * get_scale(). Another scale compiles nothing.
  Tensor scale(const Tensor& loss, Loc where = Loc::current()) const;
  /// Divides the gradients of the optimizer's parameters by the scale, for what works on them before step(), such as
  /// clipping. UsageError if it was done since the last update(), or if there was a step; and for a float16 gradient,
  /// which may become zero: keep the weights float32.
  void unscale(Optimizer& optimizer, Loc where = Loc::current());
  /// The optimizer's step, if all its gradients are finite; else removes them. Divides them by the scale first, unless
  /// unscale() has. Computes the gradients and reads whether they are finite. Returns whether there was a step.
  /// UsageError for a second one before update().
  bool step(Optimizer& optimizer, Loc where = Loc::current());
  /// After the steps of an iteration: if one was left out, multiplies the scale by backoff_factor; after
  /// growth_interval iterations without that, by growth_factor, as long as it stays finite in float32.
  void update();
  /// The factor of the next scale(); 1 if not enabled.
  double get_scale() const { return options_.enabled ? scale_ : 1; }

  /// "scale" (float64) and "growth_tracker" (int64).
  nn::NamedTensors state_dict() const;
  /// Resumes from a state_dict(). Errors as in nn::load.
  void load(const nn::NamedTensors& from, Loc where = Loc::current());

 private:
  Options options_;
  double scale_;
  int64_t growth_tracker_ = 0;  ///< iterations since the scale changed
  bool skipped_ = false;        ///< whether this iteration left a step out
  struct Progress {
    const Optimizer* optimizer;
    bool stepped;
  };
  Progress* progress_of(const Optimizer& optimizer);  ///< null: its gradients are not divided yet
  std::vector<Progress> unscaled_;                    ///< optimizers whose gradients were divided in this iteration
};

}  // namespace sinter::inline v0::optim
