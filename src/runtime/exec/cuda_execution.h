// A plan's launches on a GPU's stream: recorded, then put there as one. Nothing waits; who reads what the plan stored
// asks for the error word.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "runtime/exec/execute.h"
#include "runtime/exec/launch_graph.h"

namespace sinter::runtime::cuda {

class Context;

/// The lists of launches of one plan, with the graphs that they know: one for each run that goes on at the same time.
/// Safe from several threads.
class LaunchLists {
 public:
  std::unique_ptr<LaunchList> take(const std::shared_ptr<Context>& context);
  void give(const std::shared_ptr<Context>& context, std::unique_ptr<LaunchList> list);

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::shared_ptr<Context>, std::unique_ptr<LaunchList>>> idle_;
};

class Run final : public PlanRun {
 public:
  /// `lists`, those of the plan, outlive it.
  Run(LaunchLists& lists, const Plan& plan, const ArenaLayout& layout, std::span<const StepLoad> loads);
  ~Run() override;
  /// As PlanRun; allocates the error word and scratch memory of blocks too, and loads the kernels. Throws BackendError
  /// for one that the device refuses.
  void bind(std::span<Buffer* const> slots, std::span<const int64_t> vars, std::span<const uint64_t> args) override;
  void let_go() override;
  std::unique_ptr<Buffer> take_error() override { return std::move(error_); }

 private:
  /// A kernel to be launched: that of a step, or its finish.
  struct Phase {
    const Kernel* kernel;
    int64_t blocks;
    double ns, bytes;  ///< see LaunchSize
    std::vector<uint64_t> parameters;
  };

  void launch(size_t first, size_t count) override;
  uint32_t end() override;
  /// Phases that need not wait for each other, of which some may.
  void add_side_by_side(LaunchList& list, std::span<const Phase> phases) const;
  /// The launches of a step: those that may be left out have a list of their own, so that the others are always the
  /// same graph.
  LaunchList& list_of(size_t step) { return step < front_steps_ ? *front_ : *list_; }
  const LoadedKernel& kernel(size_t step) const { return *kernels_[static_cast<size_t>(plan().steps[step].program)]; }

  LaunchLists& lists_;
  LaunchLists fronts_;  ///< one list, of the runs of this
  std::shared_ptr<Context> context_;
  std::unique_ptr<LaunchList> list_;   ///< null between two runs
  std::unique_ptr<LaunchList> front_;  ///< of the launches of Plan::once; null if there are none
  size_t front_steps_ = 0;
  std::vector<const LoadedKernel*> kernels_;  ///< per program
  std::unique_ptr<Buffer> scratch_;           ///< null if no kernel needs any
  std::unique_ptr<Buffer> error_;             ///< null if no index can be out of range
};

}  // namespace sinter::runtime::cuda
