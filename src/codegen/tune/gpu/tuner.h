// Chooses the Opts of a kernel for a GPU: candidates from generators, ranked by the clock model.
#pragma once

#include <vector>

#include "codegen/tune/gpu/candidates.h"
#include "codegen/tune/gpu/clock_model.h"

namespace sinter::codegen {

struct RankedCandidate {
  Candidate candidate;
  ClockTerms terms;
  double clocks = 0;  ///< of `terms`
  size_t order = 0;   ///< in which it was proposed; decides among equals
};

/// The legal candidates of all generators, the fastest by the model first. May be empty.
std::vector<RankedCandidate> rank_candidates(const Kernel& kernel, const runtime::Target& target);

/// The Opts of the first `most` of rank_candidates(), or one list without Opts if there is no candidate. DEBUG=3 prints
/// the first and its terms.
std::vector<std::vector<Opt>> best_for_gpu(const Kernel& kernel, const runtime::Target& target, size_t most);
/// The same of a ranking that is there already.
std::vector<std::vector<Opt>> best_for_gpu(const std::vector<RankedCandidate>& ranked, const Kernel& kernel,
                                           const runtime::Target& target, size_t most);

/// The first of them.
std::vector<Opt> tune_for_gpu(const Kernel& kernel, const runtime::Target& target);

}  // namespace sinter::codegen
