// Where a search gets the lists of Opts that it times. All else of a search is the same on every device.
#pragma once

#include <memory>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/loopschedule/opt.h"
#include "runtime/exec/step_cost.h"

namespace sinter::plan {

/// A list of Opts that may be worth its time.
struct OptProposal {
  std::vector<codegen::Opt> opts;
  double bound = 0;  ///< ns that a launch takes at least
};

class OptSource {
 public:
  virtual ~OptSource() = default;

  /// What a search begins with, at most `most` lists. The first one is what choose_opts() returns.
  virtual std::vector<OptProposal> first(size_t most) = 0;
  /// More lists, at most `most`, which may be faster than `ns`, the time of the fastest of `beam`. No list twice. None:
  /// the search is over.
  virtual std::vector<OptProposal> next(const std::vector<std::vector<codegen::Opt>>& beam, double ns, size_t most) = 0;

  /// ns that a launch of this cost takes at least, under any Opts.
  virtual double floor(const runtime::StepCost& cost) const = 0;
  /// How many lists were left out because of their bounds.
  virtual size_t ruled_out() const = 0;
};

/// For a CPU: the heuristic's list, then neighbors of the beam (codegen/tune/search). `peak`: as in SearchLimits.
/// `kernel` and `target` must outlive the source. Throws BackendError and OutOfMemory, of measuring the roofline.
std::unique_ptr<OptSource> neighbors_of_heuristic(const codegen::Kernel& kernel, const runtime::Target& target,
                                                  double peak);

/// For a GPU: the best by the tuner's model (codegen/tune/gpu), all at once.
std::unique_ptr<OptSource> best_by_model(const codegen::Kernel& kernel, const runtime::Target& target);

}  // namespace sinter::plan
