// Parameters of launches, and the order in which phases follow one another.
#include "runtime/exec/cuda_execution.h"

#include <algorithm>
#include <limits>

#include "runtime/base/log.h"
#include "runtime/cuda/context.h"
#include "runtime/exec/concurrent_launches.h"
#include "runtime/program/program.h"

namespace sinter::runtime::cuda {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

uint64_t address(const void* p) { return reinterpret_cast<uint64_t>(p); }

/// Bytes of all blocks of a step, in either phase, a multiple of what vector accesses need.
size_t scratch_of(const Program& program, const LoadedKernel& kernel, const StepLoad& load) {
  return static_cast<size_t>((program.scratch() * std::max(load.points, kernel.finish_blocks) + 255) / 256 * 256);
}

}  // namespace

std::unique_ptr<LaunchList> LaunchLists::take(const std::shared_ptr<Context>& context) {
  const std::lock_guard lock(mutex_);
  std::erase_if(idle_, [&](const auto& entry) { return entry.first != context; });
  if (idle_.empty()) return std::make_unique<LaunchList>(context);
  std::unique_ptr<LaunchList> list = std::move(idle_.back().second);
  idle_.pop_back();
  return list;
}

void LaunchLists::give(const std::shared_ptr<Context>& context, std::unique_ptr<LaunchList> list) {
  const std::lock_guard lock(mutex_);
  idle_.emplace_back(context, std::move(list));
}

Run::Run(LaunchLists& lists, const Plan& plan, const ArenaLayout& layout, std::span<const StepLoad> loads)
    : PlanRun(plan, layout, loads), lists_(lists) {
  for (size_t l = 0; l < plan.once.size(); ++l) front_steps_ += static_cast<size_t>(plan.launches[l]);
}

void Run::bind(std::span<Buffer* const> slots, std::span<const int64_t> vars, std::span<const uint64_t> args) {
  PlanRun::bind(slots, vars, args);
  context_ = Context::get(plan().device.index());
  kernels_.clear();
  for (const auto& p : plan().programs) kernels_.push_back(&p->image()->on(*context_));
  size_t most = 0, step = 0;
  for (const int together : plan().launches) {
    size_t bytes = 0;
    for (int i = 0; i < together; ++i, ++step) bytes += scratch_of(program(step), kernel(step), load(step));
    most = std::max(most, bytes);
  }
  if (most) scratch_ = Buffer::allocate(most, plan().device);
  if (plan().checks) {
    error_ = Buffer::allocate(sizeof(uint32_t), plan().device);
    context_->fill(address(error_->data()), 0, error_->bytes());
  }
  list_ = lists_.take(context_);
  list_->begin();
  if (front_steps_) {
    front_ = fronts_.take(context_);
    front_->begin();
  }
}

void Run::let_go() {
  PlanRun::let_go();
  scratch_.reset();
  error_.reset();
  if (list_) lists_.give(context_, std::move(list_));
  if (front_) fronts_.give(context_, std::move(front_));
  context_.reset();
}

Run::~Run() { let_go(); }

void Run::launch(size_t first, size_t count) {
  std::byte* scratch = scratch_ ? scratch_->as<std::byte>() : nullptr;
  std::vector<Phase> mains, finishes;
  for (size_t i = first; i < first + count; ++i) {
    const Step& step = plan().steps[i];
    std::vector<uint64_t> parameters{error_ ? address(error_->data()) : 0};
    for (int b : step.buffers) parameters.push_back(address(data(b)));
    if (program(i).scratch()) parameters.push_back(address(scratch));
    for (int64_t n : numbers(i)) parameters.push_back(static_cast<uint64_t>(n));
    scratch += scratch_of(program(i), kernel(i), load(i));
    // How long a finish takes is not known, and there is one block of most.
    if (kernel(i).finish) finishes.push_back({kernel(i).finish.get(), kernel(i).finish_blocks, kNever, 0, parameters});
    mains.push_back(
        {&kernel(i).main, load(i).points, step.time, static_cast<double>(load(i).moved), std::move(parameters)});
  }
  LaunchList& list = list_of(first);
  add_side_by_side(list, mains);
  add_side_by_side(list, finishes);
  if (!logging(2)) return;
  list.run();  // alone, because it is timed
  context_->synchronize();
  list.begin();
}

void Run::add_side_by_side(LaunchList& list, std::span<const Phase> phases) const {
  std::vector<LaunchSize> sizes;
  for (const Phase& p : phases) sizes.push_back({p.blocks, static_cast<int>(p.kernel->threads), p.ns, p.bytes});
  for (const Round& together : rounds(sizes, context_->properties().multiprocessors)) {
    for (const size_t i : together) list.add(*phases[i].kernel, phases[i].blocks, phases[i].parameters);
    list.then();
  }
}

uint32_t Run::end() {
  if (front_ && front_->size()) front_->run();
  list_->run();
  return 0;
}

}  // namespace sinter::runtime::cuda
