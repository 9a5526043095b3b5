// Which values of a kernel are worth a tile.
#pragma once

#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// A Materialize for each value that sibling loops over an inner range use and that is expensive to recompute:
/// reductions with a loop of their own, long expressions, and loads that a CPU transposes. The proposals may be
/// illegal.
std::vector<Materialize> find_materializations(const Kernel& kernel, KernelAnalysis& analysis,
                                               const runtime::Target& target);

/// Those of find_materializations() that are legal without other Opts. Their tiles together have at most `most_bytes`
/// bytes.
std::vector<Materialize> legal_materializations(const Kernel& kernel, const runtime::Target& target,
                                                int64_t most_bytes);

/// The kernel in which these values are stored into tiles and loaded from there. Each has a tile of its own.
Kernel with_materialized(const Kernel& kernel, std::vector<Materialize> materializations);

/// The Opts with these materializations. A value is skipped if the loops do not fill its tile before its first use.
std::vector<Opt> add_materializations(const Kernel& kernel, std::vector<Opt> opts,
                                      const std::vector<Materialize>& materializations);

}  // namespace sinter::codegen
