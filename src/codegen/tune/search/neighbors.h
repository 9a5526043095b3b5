// The neighbors of a list of Opts: the lists that differ from it by one decision. A search steps from list to list.
#pragma once

#include <string_view>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

struct Neighbor {
  std::string_view change;  ///< the kind of decision that differs: "lanes", "orders", ...
  std::vector<Opt> opts;
};

/// Generates the neighbors of Opt lists for one kernel.
class Neighborhood {
 public:
  /// `kernel` is a part of a NormalizedKernel (codegen/codegen.h) and must outlive this object. CPUs only.
  Neighborhood(const Kernel& kernel, const runtime::Target& target);

  /// Every neighbor is legal, listed once, and differs from `opts`. Neighbors of one kind are adjacent.
  std::vector<Neighbor> of(const std::vector<Opt>& opts);

 private:
  const Kernel& kernel_;
  const runtime::Target& target_;
  KernelAnalysis analysis_;
  std::vector<UOp> free_;                      ///< ranges that may have lanes and unrolled copies
  std::vector<Materialize> materializations_;  ///< candidates that are worth a tile
};

}  // namespace sinter::codegen
