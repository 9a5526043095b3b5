// Learning rates as functions of the step. The formulas are in the header.
#include "sinter/nn/lr_scheduler.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string_view>
#include <utility>

#include "nn/optim_terms.h"
#include "runtime/cpu/float_control.h"
#include "tensor/core/cell.h"
#include "tensor/core/hooks.h"

namespace sinter::inline v0::optim {
namespace {

using namespace tensor;
using runtime::cpu::with_default_float_env;

/// The scheduler that gets the schedule adds the call site to errors.
void require_steps(std::string_view what, int64_t steps) {
  if (steps < 1) throw UsageError(fmt::format("{} is {}; give a number of steps of at least 1", what, steps));
}

double cosine(double from, double to, double share) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * share)) / 2;
}
double share_of(int64_t t, int64_t total) {
  return static_cast<double>(std::min(t, total)) / static_cast<double>(total);
}

}  // namespace

double StepLR::operator()(double base, int64_t t) const {
  return with_default_float_env([&] {
    require_steps("StepLR: step_size", step_size);
    const int64_t steps = t / step_size;
    return base * std::pow(gamma, static_cast<double>(steps));
  });
}

double MultiStepLR::operator()(double base, int64_t t) const {
  return with_default_float_env([&] {
    const auto passed = std::ranges::count_if(milestones, [t](int64_t m) { return m <= t; });
    return base * std::pow(gamma, static_cast<double>(passed));
  });
}

double ExponentialLR::operator()(double base, int64_t t) const {
  return with_default_float_env([&] { return base * std::pow(gamma, static_cast<double>(t)); });
}

double ConstantLR::operator()(double base, int64_t t) const {
  return with_default_float_env([&] { return t < total_iters ? base * factor : base; });
}

double LinearLR::operator()(double base, int64_t t) const {
  return with_default_float_env([&] {
    require_steps("LinearLR: total_iters", total_iters);
    return base * (start_factor + (end_factor - start_factor) * share_of(t, total_iters));
  });
}

double PolynomialLR::operator()(double base, int64_t t) const {
  return with_default_float_env([&] {
    require_steps("PolynomialLR: total_iters", total_iters);
    return base * std::pow(1 - share_of(t, total_iters), power);
  });
}

double CosineAnnealingLR::operator()(double base, int64_t t) const {
  return with_default_float_env([&] {
    require_steps("CosineAnnealingLR: t_max", t_max);
    return cosine(base, eta_min, static_cast<double>(t) / static_cast<double>(t_max));
  });
}

double CosineAnnealingWarmRestarts::operator()(double base, int64_t t) const {
  return with_default_float_env([&] {
    require_steps("CosineAnnealingWarmRestarts: t_0", t_0);
    require_steps("CosineAnnealingWarmRestarts: t_mult", t_mult);
    int64_t length = t_0;
    if (t_mult == 1)
      t %= t_0;
    else
      for (; t >= length; length = length > INT64_MAX / t_mult ? INT64_MAX : length * t_mult) t -= length;
    return cosine(base, eta_min, static_cast<double>(t) / static_cast<double>(length));
  });
}

double OneCycleLR::operator()(double, int64_t t) const {
  return with_default_float_env([&] {
    require_steps("OneCycleLR: total_steps", total_steps);
    if (!(pct_start >= 0 && pct_start <= 1))
      throw UsageError(
          fmt::format("OneCycleLR: pct_start is {}; give the share of the steps that go up, in [0, 1]", pct_start));
    const double first = max_lr / div_factor, last = first / final_div_factor;
    const double top = pct_start * static_cast<double>(total_steps) - 1, end = static_cast<double>(total_steps - 1);
    const double at = std::min(static_cast<double>(t), end);
    if (at <= top) return top > 0 ? cosine(first, max_lr, at / top) : max_lr;
    return cosine(max_lr, last, (at - top) / (end - top));
  });
}

SequentialLR::SequentialLR(std::vector<Schedule> schedules, std::vector<int64_t> milestones, Loc where)
    : schedules_(std::move(schedules)), milestones_(std::move(milestones)) {
  if (milestones_.size() + 1 != schedules_.size())
    usage_error_at(where, "SequentialLR: {} schedules need one milestone less than that; given: {}", schedules_.size(),
                   milestones_.size());
  for (size_t i = 0; i < schedules_.size(); ++i)
    if (!schedules_[i])
      usage_error_at(
          where,
          "SequentialLR: schedule {} of {}, counting from 0, is empty; give one, such as StepLR{{.step_size = 10}}", i,
          schedules_.size());
  const auto stop = std::adjacent_find(milestones_.begin(), milestones_.end(), std::greater_equal<>());
  if (stop != milestones_.end())
    usage_error_at(where, "SequentialLR: milestone {} comes before {}; give increasing ones", stop[0], stop[1]);
}

double SequentialLR::operator()(double base, int64_t t) const {
  const auto next = std::ranges::upper_bound(milestones_, t);
  return schedules_[next - milestones_.begin()](base, next == milestones_.begin() ? t : t - *(next - 1));
}

LRScheduler::LRScheduler(Optimizer& optimizer, Schedule schedule, Loc where)
    : optimizer_(&optimizer), schedule_(std::move(schedule)) {
  if (!schedule_)
    throw UsageError("LRScheduler: the schedule is empty; give one, such as StepLR{.step_size = 10}", where);
  for (size_t i = 0; i < optimizer.group_count(); ++i) bases_.push_back(optimizer.group_lr(i));
  seek(0, where);
}

void LRScheduler::seek(int64_t t, Loc where) {
  if (Observer::current())
    usage_error_at(where,
                   "LRScheduler: a jitted function goes from step {} to {}, and later calls would not; "
                   "step the schedule outside, where it acts on the next call",
                   t_, t);
  if (t < 0) usage_error_at(where, "LRScheduler: step {} is before the first; steps count from 0", t);
  try {
    std::vector<double> rates = ir::mapped(bases_, [&](const double base) { return schedule_(base, t); });
    for (size_t i = 0; i < rates.size(); ++i) optimizer_->group_lr(i) = rates[i];
  } catch (const UsageError& e) {
    if (e.where().line()) throw;
    throw UsageError(e.what(), where);
  }
  t_ = t;
}

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, Options options, Loc where)
    : optimizer_(&optimizer), options_(options) {
  if (!(options.factor >= 0 && options.factor < 1))
    usage_error_at(where, "ReduceLROnPlateau: factor is {}; a cut needs one in [0, 1)", options.factor);
  if (options.patience < 0 || options.cooldown < 0)
    usage_error_at(where, "ReduceLROnPlateau: patience is {} and cooldown {}; give numbers of steps of at least 0",
                   options.patience, options.cooldown);
  check_settings("ReduceLROnPlateau",
                 {{"threshold", options.threshold}, {"min_lr", options.min_lr}, {"eps", options.eps}}, where);
  best_ = std::numeric_limits<double>::infinity() * (options.mode == Mode::Min ? 1 : -1);
}

void ReduceLROnPlateau::step(double metric) {
  const runtime::cpu::DefaultFloatEnv floats;  // all that it computes with lies in memory
  const double margin = std::isinf(best_) ? 0 : std::abs(best_) * options_.threshold;
  const bool better = options_.mode == Mode::Min ? metric < best_ - margin : metric > best_ + margin;
  if (better) best_ = metric;
  bad_ = better ? 0 : bad_ + 1;
  if (cooling_ > 0) --cooling_, bad_ = 0;
  if (bad_ <= options_.patience) return;
  for (size_t i = 0; i < optimizer_->group_count(); ++i) {
    double& rate = optimizer_->group_lr(i);
    const double cut = std::max(rate * options_.factor, options_.min_lr);
    if (rate - cut > options_.eps) rate = cut;
  }
  cooling_ = options_.cooldown;
  bad_ = 0;
}

}  // namespace sinter::inline v0::optim
