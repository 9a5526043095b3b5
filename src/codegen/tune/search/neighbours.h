// Lists of Opts that differ from a list by one decision: the steps of a search.
#pragma once

#include <string_view>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

struct Neighbor {
  std::string_view change;  ///< which kind of decision is another one: "lanes", "order", ...
  std::vector<Opt> opts;
};

/// What lists of one kernel can change into.
class Neighborhood {
 public:
  /// Of a part of a NormalizedKernel (codegen/codegen.h), which this outlives not. For CPUs.
  Neighborhood(const Kernel& kernel, const runtime::Target& target);

  /// Each list once, all legal, the given one left out; the neighbours of one kind together.
  std::vector<Neighbor> of(const std::vector<Opt>& opts);

 private:
  const Kernel& kernel_;
  const runtime::Target& target_;
  KernelAnalysis analysis_;
  std::vector<ir::UOp> free_;                  ///< ranges of several values that may have lanes and copies
  std::vector<Materialize> materializations_;  ///< that are worth a tile
};

}  // namespace sinter::codegen
