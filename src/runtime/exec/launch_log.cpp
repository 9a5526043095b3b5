#include "runtime/exec/launch_log.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <set>
#include <string>

#include "runtime/base/log.h"
#include "runtime/cpu/roofline_cache.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/cuda/context.h"
#include "runtime/exec/plan_execution.h"
#include "runtime/program/program.h"

namespace sinter::runtime {
namespace {

/// DEBUG=1 reports a launch that takes longer than this and reaches a smaller share of its roof than this.
constexpr double kLongUs = 5000, kPoorShare = 0.05;

using Clock = std::chrono::steady_clock;
double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// Logs the roofs of a GPU at its first plan; scripts/roofline.py parses the line.
void log_roofs_once(int index, const cuda::DeviceProperties& gpu) {
  static std::mutex mutex;
  static auto& said = *new std::set<int>;  // never destroyed (SEMANTICS V7)
  const std::lock_guard lock(mutex);
  if (!said.insert(index).second) return;
  log(2, fmt::format("roofs of GPU {}: {:.0f} GFLOP/s, {:.0f} GFLOP/s by tensor cores, memory {:.0f} GB/s", index,
                     gpu.flops() * 1e-9, gpu.tensor_flops() * 1e-9, gpu.bandwidth() * 1e-9));
}

/// The lower bound on a launch's time: arithmetic or memory, whichever takes longer.
struct RooflineBound {
  double us = 0;
  const char* of = "math";
  int threads = 1;  ///< 0: a GPU

  static RooflineBound of_launch(const StepCost& cost, Device device) {
    RooflineBound bound;
    if (device.kind() != Device::Kind::Cpu) {
      const cuda::DeviceProperties& gpu = cuda::Context::get(device.index())->properties();
      log_roofs_once(device.index(), gpu);
      const bool tensor = cost.tensor && gpu.tensor_flops() > 0;
      bound.threads = 0;
      bound.set(tensor ? "tensor" : "math", cost.flops / (tensor ? gpu.tensor_flops() : gpu.flops()),
                static_cast<double>(cost.bytes) / gpu.bandwidth());
      return bound;
    }
    const double shares = std::min(static_cast<double>(cost.tasks), cost.work_units);
    bound.threads = static_cast<int>(std::clamp(shares, 1.0, static_cast<double>(cpu::thread_pool().threads())));
    const cpu::Roofline roofs = cpu::cached_roofline(bound.threads);
    bound.set("math", cost.flops / roofs.flops, static_cast<double>(cost.bytes) / roofs.copy);
    return bound;
  }
  /// `math` and `memory` are in seconds.
  void set(const char* unit, double math, double memory) {
    us = 1e6 * std::max(math, memory);
    of = memory > math ? "memory" : unit;
  }
  /// "math, 2 threads"; on a GPU "tensor".
  std::string text() const {
    return threads ? fmt::format("{}, {} thread{}", of, threads, threads == 1 ? "" : "s") : of;
  }
};

/// The line of DEBUG=2, which scripts/roofline.py parses.
std::string line_of(const std::string& name, const StepCost& cost, double us) {
  const auto moved = static_cast<double>(cost.bytes);
  return fmt::format("  {:<56} {:>9} tasks {:>10.1f} us {:>10.4f} MB {:>11.4f} MFLOP {:>8.2f} GB/s {:>8.2f} GFLOP/s",
                     name, cost.tasks, us, moved * 1e-6, cost.flops * 1e-6, moved / us * 1e-3, cost.flops / us * 1e-3);
}

class LaunchLog final : public LaunchObserver {
 public:
  explicit LaunchLog(const PlanExecution& execution)
      : execution_(execution), cpu_(execution.plan().device.kind() == Device::Kind::Cpu) {
    // Before the launches, since the roofline may have to be measured. A log line must not fail the plan.
    if (logging(2)) try {
        const std::vector<int>& launches = execution.plan().launches;
        for (size_t l = 0, first = 0; l < launches.size(); first += static_cast<size_t>(launches[l++]))
          bounds_.push_back(RooflineBound::of_launch(execution.launch_cost(first, static_cast<size_t>(launches[l])),
                                                     execution.plan().device));
      } catch (const std::exception& error) {
        bounds_.clear();
        log(2, fmt::format("no roofs: {}", error.what()));
      }
    start_ = Clock::now();
  }

  void before_launch(const LaunchInfo&) override { launch_start_ = Clock::now(); }

  void after_launch(const LaunchInfo& launch) override {
    // On a GPU, of enqueuing it; at DEBUG=2 each launch runs alone and is waited for.
    const double us = microseconds_since(launch_start_);
    ++launches_, kernels_ += launch.count, moved_ += launch.cost.bytes;
    if (us > kLongUs && cpu_) long_.push_back({launch, us});
    if (!logging(2)) return;
    std::string line = line_of(name_of(launch), launch.cost, us);
    if (!bounds_.empty()) {
      const RooflineBound& bound = bounds_[launch.number];
      line += fmt::format(" {:>6.1f} % of {}", 100 * bound.us / us, bound.text());
    }
    double priced = 0;
    for (size_t i = launch.first; i < launch.first + launch.count; ++i)
      priced += execution_.plan().steps[i].price * 1e-3;
    log(2, line + fmt::format(", priced at {:.1f} us", priced));
  }

  void after_run() override {
    log(1, fmt::format("plan: {} launches of {} kernels, {:.3f} MB moved, {:.1f} us", launches_, kernels_,
                       static_cast<double>(moved_) / 1e6, microseconds_since(start_)));
    for (const Timing& t : long_) note_if_slow(t);  // now, since the roofline may have to be measured
  }

 private:
  struct Timing {
    LaunchInfo launch;
    double us;
  };

  std::string name_of(const LaunchInfo& launch) const {
    const std::string& name = execution_.program(launch.first).name();
    return launch.count > 1 ? fmt::format("{} and {} more", name, launch.count - 1) : name;
  }

  void note_if_slow(const Timing& t) try {
    const RooflineBound bound = RooflineBound::of_launch(t.launch.cost, execution_.plan().device);
    if (bound.us > kPoorShare * t.us) return;
    const auto begin = execution_.plan().steps.begin() + static_cast<std::ptrdiff_t>(t.launch.first);
    const auto longest = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(t.launch.count),
                                          [](const PlanStep& a, const PlanStep& b) { return a.time < b.time; });
    log(1, fmt::format("slow: {} took {:.1f} ms, {:.2f} % of {}: {}", name_of(t.launch), t.us * 1e-3,
                       100 * bound.us / t.us, bound.text(), execution_.made_by(longest->position)));
  } catch (const std::exception& error) {  // from measuring the roofline, which must not fail the plan
    log(1, fmt::format("no roofs: {}", error.what()));
  }

  const PlanExecution& execution_;
  const bool cpu_;
  std::vector<RooflineBound> bounds_;  ///< per launch of the plan; empty if unknown
  size_t launches_ = 0, kernels_ = 0, moved_ = 0;
  std::vector<Timing> long_;
  Clock::time_point start_, launch_start_;
};

}  // namespace

std::unique_ptr<LaunchObserver> make_launch_log(const PlanExecution& execution) {
  return std::make_unique<LaunchLog>(execution);
}

}  // namespace sinter::runtime
