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
class Bound {
 public:
  /// Of a part of a Prepared, which outlives this. `peak`: float32 FLOPs per ns of one thread.
  Bound(const Kernel& kernel, const runtime::Target& target, double peak);

  /// ns on all threads of the target that the blocks leave busy. Throws IllegalOpt.
  double ns(const std::vector<Opt>& opts);

 private:
  struct Shape;
  double arithmetic(const Shape& s);
  double loads(const Shape& s);
  double latency(const Shape& s) const;

  const Kernel& kernel_;
  const runtime::Target& target_;
  const double slot_;  ///< ns of a vector's multiply-add
  const std::vector<ir::UOp> nodes_;
  View view_;
};

}  // namespace sinter::codegen
