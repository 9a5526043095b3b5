// Times a plan of one step whose buffers are all slots.
#include "runtime/exec/kernel_timer.h"

#include <algorithm>
#include <map>

#include "runtime/exec/array.h"
#include "runtime/exec/devices.h"
#include "runtime/exec/plan_execution.h"
#include "runtime/program/program.h"

namespace sinter::runtime {
namespace {

constexpr int kRounds = 7;              ///< rounds per comparison
constexpr double kRound = 50e3;         ///< duration of a round in ns; at least one launch
constexpr double kClearlySlower = 1.3;  ///< times the hoped ratio: ends the comparison after two rounds
constexpr double kHopeless = 3;         ///< ratio that ends it after the first launch, unless that is a short one

/// Fills a buffer with numbers from 1/2 to 1, or with 0 and 1. So no sum overflows its type, no gather index leaves its
/// table, and no number is denormal.
void fill(Buffer& buffer, size_t bytes, DType dtype) {
  constexpr size_t kPattern = 1 << 10;
  std::vector<std::byte> pattern(kPattern * size_of(dtype));
  for (size_t i = 0; i < kPattern; ++i) {
    const auto n = static_cast<int64_t>(i * 7 % 16);
    store_scalar(
        dtype, pattern.data() + i * size_of(dtype),
        is_float(dtype) ? ir::Scalar::of(dtype, 0.5 + static_cast<double>(n) / 32) : ir::Scalar::of(dtype, n & 1));
  }
  size_t filled = std::min(pattern.size(), bytes);
  copy(buffer.device(), buffer.data(), Device::cpu(), pattern.data(), filled);
  for (size_t more; filled < bytes; filled += more) {  // from where the buffer lies: a device is far from the host
    more = std::min(filled, bytes - filled);
    copy(buffer.device(), buffer.as<std::byte>() + filled, buffer.device(), buffer.data(), more);
  }
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

struct KernelTimer::Candidate::State {
  State(Plan plan, PlanSignature signature)
      : executable(std::move(plan), std::move(signature)), execution(executable.make_plan_execution()) {}
  const ExecutablePlan executable;
  const std::unique_ptr<PlanExecution> execution;
  int launches = 1;  ///< per round

  /// ns per launch, averaged over a round.
  double round() const { return execution->time_step(0, launches); }
};

KernelTimer::Candidate::Candidate(std::unique_ptr<State> state) : state_(std::move(state)) {}
KernelTimer::Candidate::~Candidate() = default;
KernelTimer::~KernelTimer() = default;

KernelTimer::KernelTimer(const Plan& plan, size_t number, std::vector<int64_t> vars) : vars_(std::move(vars)) {
  PlanStep step = plan.steps[number];
  plan_.device = plan.device;
  plan_.raises_errors = true;  // whether the kernel does or not: it may write to the error word
  plan_.work = {plan.work[step.program]};
  step.program = 0;
  std::map<int, int> places;  // by buffer number in `plan`
  for (std::vector<int>* list : {&step.buffers, &step.writes})
    for (int& b : *list) {
      const auto [it, fresh] = places.emplace(b, static_cast<int>(plan_.buffers.size()));
      if (fresh) {
        const PlanBuffer& buffer = plan.buffers[b];
        plan_.buffers.push_back(buffer);
        plan_.buffers.back().kind = PlanBuffer::Kind::Slot;
        const auto bytes = std::max(static_cast<size_t>(buffer.bound_bytes), bytes_of(buffer, vars_));
        memory_.push_back(Buffer::allocate(bytes, plan_.device));
        fill(*memory_.back(), bytes, buffer.dtype);
      }
      b = it->second;
    }
  for (int a : step.args)
    args_.resize(std::max(args_.size(), static_cast<size_t>(a) + 1),
                 ir::Scalar::of(DType::Index, int64_t{0}));  // 0: an offset at which boxes fit
  plan_.steps.push_back(std::move(step));
  plan_.launches = {1};
}

std::unique_ptr<KernelTimer::Candidate> KernelTimer::prepare(std::shared_ptr<const Program> program) const {
  Plan plan = plan_;
  plan.programs = {std::move(program)};
  auto state = std::make_unique<Candidate::State>(std::move(plan),
                                                  PlanSignature{std::vector<DType>(args_.size(), DType::Index), {}});
  Bindings bindings{.slots = {}, .args = args_, .vars = vars_, .origins = {}, .unchanged_slots = {}};
  for (const auto& buffer : memory_) bindings.slots.push_back(buffer.get());
  state->execution->bind(bindings);
  return std::unique_ptr<Candidate>(new Candidate(std::move(state)));
}

const StepCost& KernelTimer::cost(const Candidate& candidate) { return candidate.state_->execution->cost(0); }

double KernelTimer::time(Candidate& candidate) {
  Candidate::State& c = *candidate.state_;
  c.launches = 1;
  c.round();
  for (int i = 0; i < 2; ++i)  // again: to a GPU one launch by itself takes longer than one among others
    c.launches = static_cast<int>(std::clamp(kRound / c.round(), 1.0, 1e4));
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) times.push_back(c.round());
  return median(times);
}

double KernelTimer::ratio(Candidate& a, Candidate& b, double hoped) {
  a.state_->launches = 1;
  const double first = a.state_->round();
  if (first > kRound / 2 && first > kHopeless * b.state_->round()) return kHopeless;
  a.state_->launches = b.state_->launches;
  std::vector<double> ratios;
  while (ratios.size() < kRounds) {
    const double other = b.state_->round();
    ratios.push_back(a.state_->round() / other);
    if (ratios.size() == 2 && std::min(ratios[0], ratios[1]) > kClearlySlower * hoped) break;
  }
  return median(ratios);
}

}  // namespace sinter::runtime
