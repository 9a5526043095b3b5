#include "codegen/tune/gpu/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/nest/loop_tree.h"
#include "codegen/tune/heuristic/materialize_rows.h"
#include "runtime/base/log.h"

namespace sinter::codegen {
namespace {

std::vector<Candidate> candidates_of(const Kernel& kernel, const runtime::Target& target) {
  std::vector<Candidate> all;
  auto propose = [&](TuneSpace& space) {
    propose_shares(space, all);
    propose_products(space, all);
    propose_transposes(space, all);
  };
  TuneSpace space(kernel, target, legal_materializations(kernel, target, target.shared / 2));
  propose(space);
  for (const std::vector<Materialize>& parts : partial_sums(space)) {
    std::vector<Materialize> values = space.materializations;
    values.insert(values.end(), parts.begin(), parts.end());
    if (!is_legal(kernel, {values.begin(), values.end()})) continue;
    TuneSpace split(kernel, target, values);
    propose_shares(split, all);
    propose_products(split, all);
  }
  all.push_back({"plain", {}});
  return all;
}

/// Blocks that a multiprocessor holds if a thread takes somewhat more registers than predicted: ptxas, which likes to
/// take all that it may, is held to the number that the prediction rests on, without being made to spill.
int occupancy_of(const ClockTerms& terms, const runtime::Target& target) {
  constexpr double kSlack = 1.25;
  constexpr int kFewRegisters = 64;  // not worth a limit
  const int registers = std::max(kFewRegisters, static_cast<int>(kSlack * terms.registers));
  return std::clamp(resident_by_registers(registers, terms.threads, target), 1, std::max(terms.resident, 1));
}

}  // namespace

std::vector<RankedCandidate> rank_candidates(const Kernel& kernel, const runtime::Target& target) {
  std::vector<RankedCandidate> ranked;
  std::set<std::string> met;
  for (Candidate& c : candidates_of(kernel, target)) {
    if (!met.insert(to_string(c.opts)).second) continue;
    if (const std::optional<ClockTerms> terms = predict_clocks(kernel, c.opts, target); terms && terms->resident > 0)
      ranked.push_back({std::move(c), *terms, ranked.size()});
  }
  std::sort(ranked.begin(), ranked.end(), [](const RankedCandidate& a, const RankedCandidate& b) {
    return std::pair(a.terms.clocks(), a.order) < std::pair(b.terms.clocks(), b.order);
  });
  return ranked;
}

std::vector<Opt> tune_for_gpu(const Kernel& kernel, const runtime::Target& target) {
  const std::vector<RankedCandidate> ranked = rank_candidates(kernel, target);
  if (ranked.empty()) return {};
  const RankedCandidate& best = ranked.front();
  if (runtime::logging(3))
    runtime::log(3, fmt::format("{}: {} of {} candidates, {}\n  {}", kernel.name, best.candidate.generator,
                                ranked.size(), to_string(best.terms), to_string(best.candidate.opts)));
  std::vector<Opt> opts = best.candidate.opts;
  opts.push_back(Occupancy{occupancy_of(best.terms, target)});
  return opts;
}

}  // namespace sinter::codegen
