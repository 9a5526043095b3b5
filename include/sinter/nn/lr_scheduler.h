// Learning-rate schedules, with the names and in the closed forms of torch.optim.lr_scheduler. A schedule is a pure
// function of the step; LRScheduler applies one to an optimizer. The rate is a launch argument: changing it compiles
// nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sinter/nn/optim.h"

namespace sinter::inline v0::optim {

/// The rate at step t = 0, 1, ... of an optimizer that was made with rate `base`. Any callable: `[](double base,
/// int64_t t) { return base / (1 + t); }`.
using Schedule = std::function<double(double base, int64_t t)>;

/// base * gamma^floor(t / step_size). step_size at least 1.
struct StepLR {
  int64_t step_size;
  double gamma = 0.1;
  double operator()(double base, int64_t t) const;
};

/// base * gamma^(number of milestones <= t).
struct MultiStepLR {
  std::vector<int64_t> milestones;
  double gamma = 0.1;
  double operator()(double base, int64_t t) const;
};

/// base * gamma^t.
struct ExponentialLR {
  double gamma;
  double operator()(double base, int64_t t) const;
};

/// base * factor before step total_iters, then base.
struct ConstantLR {
  double factor = 1.0 / 3;
  int64_t total_iters = 5;
  double operator()(double base, int64_t t) const;
};

/// base times a factor that goes from start_factor to end_factor in total_iters equal steps and then stays: warm-up.
/// total_iters at least 1.
struct LinearLR {
  double start_factor = 1.0 / 3, end_factor = 1.0;
  int64_t total_iters = 5;
  double operator()(double base, int64_t t) const;
};

/// base * (1 - min(t, total_iters) / total_iters)^power. total_iters at least 1.
struct PolynomialLR {
  int64_t total_iters = 5;
  double power = 1.0;
  double operator()(double base, int64_t t) const;
};

/// eta_min + (base - eta_min) * (1 + cos(pi t / t_max)) / 2: from base at 0 to eta_min at t_max, then back up.
/// Loshchilov and Hutter, ICLR 2017, without restarts. t_max at least 1.
struct CosineAnnealingLR {
  int64_t t_max;
  double eta_min = 0;
  double operator()(double base, int64_t t) const;
};

/// The same with restarts: it starts again at base after t_0 steps, then after t_0 * t_mult, t_0 * t_mult^2, ... Both
/// at least 1.
struct CosineAnnealingWarmRestarts {
  int64_t t_0, t_mult = 1;
  double eta_min = 0;
  double operator()(double base, int64_t t) const;
};

/// Smith and Topin, 2017. Half a cosine from max_lr / div_factor up to max_lr at step pct_start * total_steps - 1, then
/// another down to max_lr / (div_factor * final_div_factor) at total_steps - 1; then it stays there. `base` is not
/// used. Momentum and betas are left alone, as by PyTorch's with cycle_momentum=False, which is not its default.
struct OneCycleLR {
  double max_lr;
  int64_t total_steps;
  double pct_start = 0.3, div_factor = 25, final_div_factor = 1e4;
  double operator()(double base, int64_t t) const;
};

/// One schedule after the other: the first before milestones[0], then the next, each counting from 0 again. There is
/// one milestone less than schedules; milestones increase. `SequentialLR{{LinearLR{.total_iters = 100},
/// CosineAnnealingLR{900}}, {100}}`.
class SequentialLR {
 public:
  /// UsageError for an empty schedule, and for a wrong number or order of milestones.
  SequentialLR(std::vector<Schedule> schedules, std::vector<int64_t> milestones, Loc where = Loc::current());
  double operator()(double base, int64_t t) const;

 private:
  std::vector<Schedule> schedules_;
  std::vector<int64_t> milestones_;
};

/// Sets the rates of an optimizer, which must outlive it: at once to those of step 0, then step by step. Each group of
/// parameters follows the schedule from its own rate.
/// @snippet training.cpp schedule
class LRScheduler {
 public:
  /// UsageError if the schedule refuses its own parameters.
  LRScheduler(Optimizer& optimizer, Schedule schedule, Loc where = Loc::current());
  /// Sets the rate of the next step. Call it after optimizer.step(), each step or each epoch, as the schedule counts.
  void step(Loc where = Loc::current()) { seek(t_ + 1, where); }
  /// Sets the rate of step t >= 0, to resume a saved training.
  void seek(int64_t t, Loc where = Loc::current());
  /// The step whose rate is set.
  int64_t t() const { return t_; }
  /// The rate that the group of the optimizer was made with.
  double base(size_t group = 0) const { return bases_.at(group); }

 private:
  Optimizer* optimizer_;
  Schedule schedule_;
  std::vector<double> bases_;  ///< of each group
  int64_t t_ = 0;
};

/// What counts as better, and what to do without improvement. UsageError unless factor is in [0, 1) and the other
/// numbers are finite and at least 0.
struct ReduceLROnPlateauOptions {
  /// Whether smaller or larger is better.
  enum class Mode : uint8_t { Min, Max };
  Mode mode = Mode::Min;
  double factor = 0.1;      ///< new rate = rate * factor
  int64_t patience = 10;    ///< steps without improvement before a cut
  double threshold = 1e-4;  ///< better means better than the best by this fraction of it
  int64_t cooldown = 0;     ///< steps after a cut that are not counted
  double min_lr = 0;
  double eps = 1e-8;  ///< a smaller cut is skipped
};
/// Cuts the rates of all groups when a metric stops improving, as torch.optim.lr_scheduler.ReduceLROnPlateau.
class ReduceLROnPlateau {
 public:
  using Options = ReduceLROnPlateauOptions;  ///< as ReduceLROnPlateau::Options{.patience = 5}
  using Mode = Options::Mode;                ///< as ReduceLROnPlateau::Mode::Max
  /// The optimizer must outlive it.
  explicit ReduceLROnPlateau(Optimizer& optimizer, Options options = {}, Loc where = Loc::current());
  /// `metric` of the last epoch, such as the validation loss. NaN is never better.
  void step(double metric);
  /// The best metric so far.
  double best() const { return best_; }

 private:
  Optimizer* optimizer_;
  Options options_;
  double best_;
  int64_t bad_ = 0, cooling_ = 0;
};

}  // namespace sinter::inline v0::optim
