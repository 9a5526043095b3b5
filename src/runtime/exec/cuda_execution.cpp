// Parameters of launches, and the order of their phases.
#include "runtime/exec/cuda_execution.h"

#include <algorithm>
#include <limits>

#include "runtime/base/log.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/stream_timer.h"
#include "runtime/exec/concurrent_launches.h"
#include "runtime/program/program.h"

namespace sinter::runtime::cuda {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

uint64_t address(const void* p) { return reinterpret_cast<uint64_t>(p); }

/// Scratch bytes for all blocks of a step, in either phase, rounded up for vector accesses.
size_t scratch_of(const Program& program, const LoadedKernel& kernel, const StepCost& cost) {
  return static_cast<size_t>((program.scratch() * std::max(cost.tasks, kernel.epilogue_blocks) + 255) / 256 * 256);
}

}  // namespace

std::unique_ptr<LaunchGraph> LaunchGraphPool::acquire(const std::shared_ptr<Context>& context) {
  const std::lock_guard lock(mutex_);
  std::erase_if(idle_, [&](const auto& entry) { return entry.first != context; });
  if (idle_.empty()) return std::make_unique<LaunchGraph>(context);
  std::unique_ptr<LaunchGraph> graph = std::move(idle_.back().second);
  idle_.pop_back();
  return graph;
}

void LaunchGraphPool::put_back(const std::shared_ptr<Context>& context, std::unique_ptr<LaunchGraph> graph) {
  const std::lock_guard lock(mutex_);
  idle_.emplace_back(context, std::move(graph));
}

CudaExecution::CudaExecution(LaunchGraphPool& graphs, const ExecutablePlan& executable)
    : PlanExecution(executable), graphs_(graphs) {
  for (size_t l = 0; l < plan().invariant_launches.size(); ++l)
    invariant_steps_ += static_cast<size_t>(plan().launches[l]);
}

void CudaExecution::bind(const Bindings& bindings) {
  PlanExecution::bind(bindings);
  context_ = Context::get(plan().device.index());
  kernels_.clear();
  for (const auto& p : plan().programs) kernels_.push_back(&p->image()->load_on(*context_));
  size_t most = 0, step = 0;
  for (const int together : plan().launches) {
    size_t bytes = 0;
    for (int i = 0; i < together; ++i, ++step) bytes += scratch_of(program(step), kernel(step), cost(step));
    most = std::max(most, bytes);
  }
  if (most) scratch_ = Buffer::allocate(most, plan().device);
  if (plan().raises_errors) {
    error = Buffer::allocate(sizeof(uint32_t), plan().device);
    context_->fill(address(error->data()), 0, error->bytes());
  }
  graph_ = graphs_.acquire(context_);
  graph_->begin();
  if (invariant_steps_) {
    invariant_graph_ = invariant_graphs_.acquire(context_);
    invariant_graph_->begin();
  }
  if (std::ranges::any_of(kernels_, [](const LoadedKernel* k) { return k->takes_tickets; }))
    for (LaunchGraph* graph : {graph_.get(), invariant_graph_.get()})
      if (graph) graph->tickets(plan().steps.size());  // a run may not meet the end of memory
}

void CudaExecution::unbind() {
  PlanExecution::unbind();
  scratch_.reset();
  timer_.reset();
  timed_ = {};
  if (graph_) graphs_.put_back(context_, std::move(graph_));
  if (invariant_graph_) invariant_graphs_.put_back(context_, std::move(invariant_graph_));
  context_.reset();
}

CudaExecution::~CudaExecution() { unbind(); }

void CudaExecution::launch(size_t first, size_t count) {
  record(first, count);
  if (!logging(2)) return;
  LaunchGraph& graph = graph_of(first);
  graph.run();  // alone, because it is timed
  context_->synchronize();
  graph.begin();
}

double CudaExecution::time_step(size_t step, int times) {
  LaunchGraph& graph = graph_of(step);
  const auto enqueue = [&] {
    graph.begin();
    for (int i = 0; i < times; ++i) record(step, 1);
    graph.run();
  };
  if (!timer_) timer_ = std::make_unique<StreamTimer>(context_);
  const bool others = std::exchange(timed_, {step, times}) != std::pair(step, times);
  if (times > 1) {
    // Plans launch graphs, whose kernels follow each other closely. The first run makes none, and the second makes one.
    if (others) enqueue();
    enqueue();  // keeps the device busy while the host enqueues what is timed
  }
  timer_->start();
  enqueue();
  return timer_->stop() / times;
}

void CudaExecution::record(size_t first, size_t count) {
  std::byte* scratch = scratch_ ? scratch_->as<std::byte>() : nullptr;
  std::vector<KernelLaunch> mains, finishes;
  LaunchGraph& graph = graph_of(first);
  for (size_t i = first; i < first + count; ++i) {
    const PlanStep& step = plan().steps[i];
    std::vector<uint64_t> parameters{error ? address(error->data()) : 0};
    for (int b : step.buffers) parameters.push_back(address(data(b)));
    if (program(i).scratch()) parameters.push_back(address(scratch));
    // A word for each step: no two launches that may run at once count in the same.
    if (kernel(i).takes_tickets) parameters.push_back(graph.tickets(plan().steps.size()) + i * sizeof(uint32_t));
    for (int64_t n : scalars(i)) parameters.push_back(static_cast<uint64_t>(n));
    scratch += scratch_of(program(i), kernel(i), cost(i));
    // The time of an epilogue kernel is unknown; most have one block.
    if (kernel(i).epilogue)
      finishes.push_back({kernel(i).epilogue.get(), kernel(i).epilogue_blocks, kNever, 0, parameters});
    mains.push_back(
        {&kernel(i).main, cost(i).tasks, step.time, static_cast<double>(cost(i).bytes), std::move(parameters)});
  }
  add_concurrent(graph, mains);
  add_concurrent(graph, finishes);
}

void CudaExecution::add_concurrent(LaunchGraph& graph, std::span<const KernelLaunch> phases) const {
  std::vector<LaunchEstimate> sizes;
  for (const KernelLaunch& p : phases) sizes.push_back({p.blocks, static_cast<int>(p.kernel->threads), p.ns, p.bytes});
  for (const LaunchGroup& together : group_launches(sizes, context_->properties().multiprocessors)) {
    for (const size_t i : together) graph.add(*phases[i].kernel, phases[i].blocks, phases[i].parameters);
    graph.barrier();
  }
}

uint32_t CudaExecution::end() {
  if (invariant_graph_ && invariant_graph_->size()) invariant_graph_->run();
  graph_->run();
  return 0;
}

}  // namespace sinter::runtime::cuda
