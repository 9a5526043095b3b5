// Blocks that run at the same time share rows and columns of factors. In rows of blocks, as tasks count them, a wave
// has few rows and all columns; bands of rows make it more of a square, which is less to read.
#include "codegen/tune/gpu/candidates.h"
#include "codegen/tune/gpu/clock_model.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kBands[] = {2, 4, 8, 16, 32};  ///< blocks
constexpr double kLeastGain = 0.1;               ///< of the traffic with memory

}  // namespace

std::optional<Candidate> with_task_band(const TuneSpace& space, const Candidate& candidate, const ClockTerms& terms) {
  if (terms.reread < kLeastGain * terms.memory) return std::nullopt;
  std::optional<Candidate> best;
  double least = (1 - kLeastGain) * terms.memory;
  for (size_t range = 0; range + 1 < space.kernel.outer.size(); ++range)
    for (const int64_t blocks : kBands) {
      Candidate made{candidate.generator, candidate.opts};
      made.opts.emplace_back(TaskBand{static_cast<int>(range), blocks});
      const std::optional<ClockTerms> now = predict_clocks(space.kernel, made.opts, space.target);
      if (!now || now->memory >= least) continue;
      least = now->memory;
      best = std::move(made);
    }
  return best;
}

}  // namespace sinter::codegen
