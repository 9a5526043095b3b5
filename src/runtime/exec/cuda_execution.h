// Runs a plan's launches on a GPU's stream: records them, then enqueues them as one graph. Nothing waits. Whoever reads
// a value that the plan stored checks the error word.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "runtime/exec/launch_graph.h"
#include "runtime/exec/plan_execution.h"

namespace sinter::runtime::cuda {

class Context;
class StreamTimer;

/// The launch graphs of one plan, one for each concurrent run. Safe from several threads.
class LaunchGraphPool {
 public:
  std::unique_ptr<LaunchGraph> acquire(const std::shared_ptr<Context>& context);
  void put_back(const std::shared_ptr<Context>& context, std::unique_ptr<LaunchGraph> graph);

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::shared_ptr<Context>, std::unique_ptr<LaunchGraph>>> idle_;
};

class CudaExecution final : public PlanExecution {
 public:
  /// `graphs` are those of the plan and outlive this object.
  CudaExecution(LaunchGraphPool& graphs, const ExecutablePlan& executable);
  ~CudaExecution() override;
  /// As PlanExecution. Also allocates the error word, the blocks' scratch memory and tickets, and loads the kernels.
  /// Throws BackendError for a kernel that the device rejects.
  void bind(const Bindings& bindings) override;
  void unbind() override;
  double time_step(size_t step, int times) override;

 private:
  /// One kernel launch: a step's kernel or its epilogue kernel.
  struct KernelLaunch {
    const DeviceKernel* kernel;
    int64_t blocks;
    double ns, bytes;  ///< see LaunchEstimate
    std::vector<uint64_t> parameters;
  };

  void launch(size_t first, size_t count) override;
  /// Adds the kernels of independent steps to their graph.
  void record(size_t first, size_t count);
  uint32_t end() override;
  /// Adds independent phases, in groups that run concurrently.
  void add_concurrent(LaunchGraph& graph, std::span<const KernelLaunch> phases) const;
  /// The launch graph of a step. Launches of invariants may be skipped, so they have a graph of their own; the other
  /// graph then stays the same.
  LaunchGraph& graph_of(size_t step) { return step < invariant_steps_ ? *invariant_graph_ : *graph_; }
  const LoadedKernel& kernel(size_t step) const { return *kernels_[plan().steps[step].program]; }

  LaunchGraphPool& graphs_;
  LaunchGraphPool invariant_graphs_;  ///< one graph, for the runs of this execution
  std::shared_ptr<Context> context_;
  std::unique_ptr<LaunchGraph> graph_;  ///< null between two runs
  std::unique_ptr<LaunchGraph>
      invariant_graph_;  ///< for the launches of Plan::invariant_launches; null if there are none
  size_t invariant_steps_ = 0;
  std::vector<const LoadedKernel*> kernels_;  ///< per program
  std::unique_ptr<Buffer> scratch_;           ///< null if no kernel needs scratch
  std::unique_ptr<StreamTimer> timer_;        ///< from the first time_step() on
  std::pair<size_t, int> timed_{0, 0};        ///< what time_step() launched last
};

}  // namespace sinter::runtime::cuda
