// A lower bound of the time of a kernel under given Opts. A search need not time lists whose bound is too high.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// A lower bound of the time of a launch that assumes nothing about caches. It is the maximum of three terms: the
/// vector instructions that cannot be avoided, at the rate of multiply-adds; the loads, including reloads of spilled
/// accumulators; the latency of reductions with few accumulators.
class TimeBound {
 public:
  /// `kernel` is a part of a NormalizedKernel and must outlive this object. `peak`: float32 FLOPs per ns of one
  /// thread.
  TimeBound(const Kernel& kernel, const runtime::Target& target, double peak);

  /// Nanoseconds on the threads of the target that have a task. Throws IllegalOpt.
  double ns(const std::vector<Opt>& opts);

 private:
  struct LoopShape;
  double arithmetic(const LoopShape& s);
  double loads(const LoopShape& s);
  double latency(const LoopShape& s) const;

  const Kernel& kernel_;
  const runtime::Target& target_;
  const double slot_ns_;  ///< ns of one vector multiply-add
  const std::vector<UOp> nodes_;
  KernelAnalysis analysis_;
};

}  // namespace sinter::codegen
