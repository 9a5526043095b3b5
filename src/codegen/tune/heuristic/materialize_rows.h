// Which values of a kernel are worth a tile.
#pragma once

#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// A Materialize for each value that sibling loops over an inner range use and that is dear to compute again: sums with
/// a loop of their own, long expressions, and what a CPU's vectors transpose. Proposals: whether they are legal is
/// another question.
std::vector<Materialize> find_materializations(const Kernel& kernel, KernelAnalysis& analysis,
                                               const runtime::Target& target);

/// Those of them that are legal without other Opts, and whose tiles together have at most so many bytes.
std::vector<Materialize> legal_materializations(const Kernel& kernel, const runtime::Target& target,
                                                int64_t most_bytes);

/// The kernel in which these rows are stored into tiles and loaded from there.
Kernel with_materialized(const Kernel& kernel, const std::vector<Materialize>& materializations);

/// The Opts with these rows; a tile that the loops do not fill in time is left out.
std::vector<Opt> add_materializations(const Kernel& kernel, std::vector<Opt> opts,
                                      const std::vector<Materialize>& materializations);

}  // namespace sinter::codegen
