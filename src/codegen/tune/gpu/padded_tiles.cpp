// Threads that work on different rows of a materialized value meet in the banks of shared memory if the rows are a
// multiple of the banks long, or in few of them if they are short. Some unused elements after each row move the rows
// apart.
#include "codegen/tune/gpu/candidates.h"
#include "codegen/tune/gpu/clock_model.h"

namespace sinter::codegen {
namespace {

constexpr int kPads[] = {1, 2, 4, 8, 16};  ///< elements

/// The candidate with padding after the rows of a value, and of those that take its place.
Candidate padded(const Candidate& candidate, int value, int pad) {
  Candidate made{candidate.generator, candidate.opts};
  std::vector<int> same{value};
  for (Opt& o : made.opts)
    if (auto* m = std::get_if<Materialize>(&o); m && (m->value == value || contains(same, m->over))) {
      m->pad = pad;
      same.push_back(m->value);
    }
  return made;
}

}  // namespace

std::optional<Candidate> with_padded_tiles(const TuneSpace& space, const Candidate& candidate) {
  Candidate best{candidate.generator, candidate.opts};
  std::optional<ClockTerms> least;
  bool found = false;
  for (const Opt& o : candidate.opts) {
    const auto* value = std::get_if<Materialize>(&o);
    if (!value || value->over >= 0) continue;
    if (!least) least = predict_clocks(space.kernel, candidate.opts, space.target);
    if (!least) return std::nullopt;
    const Candidate before = best;
    for (const int pad : kPads) {
      Candidate made = padded(before, value->value, pad);
      const std::optional<ClockTerms> terms = predict_clocks(space.kernel, made.opts, space.target);
      if (!terms || terms->resident < least->resident || terms->shared >= least->shared) continue;
      best = std::move(made);
      least = terms;
      found = true;
    }
  }
  return found ? std::optional(best) : std::nullopt;
}

}  // namespace sinter::codegen
