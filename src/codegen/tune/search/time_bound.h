// How fast a kernel can be at best under given Opts: what a search need not time.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// A lower bound of the time of a launch, whatever the caches do: instructions that cannot be saved, counted in
/// vectors, at the rate of multiply-adds; the latency of sums in few accumulators; accumulators that no register holds.
class TimeBound {
 public:
  /// Of a part of a NormalizedKernel, which outlives this. `peak`: float32 FLOPs per ns of one thread.
  TimeBound(const Kernel& kernel, const runtime::Target& target, double peak);

  /// ns on all threads of the target that the blocks leave busy. Throws IllegalOpt.
  double ns(const std::vector<Opt>& opts);

 private:
  struct LoopShape;
  double arithmetic(const LoopShape& s);
  double loads(const LoopShape& s);
  double latency(const LoopShape& s) const;

  const Kernel& kernel_;
  const runtime::Target& target_;
  const double slot_ns_;  ///< ns of a vector's multiply-add
  const std::vector<ir::UOp> nodes_;
  KernelAnalysis analysis_;
};

}  // namespace sinter::codegen
