// Candidates: lists of Opts that a kernel may get on a GPU. Generators propose, and decide nothing: the clock model
// ranks what they propose (tuner.h). A candidate may be illegal.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/loopschedule/opt.h"
#include "codegen/tune/gpu/clock_model.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

struct Candidate {
  const char* generator = "";
  std::vector<Opt> opts;
  /// Proposes lists that differ from this one in details, worth a look if this one is fast; may be null.
  std::function<void(std::vector<Candidate>&)> refine = {};
};

/// A kernel with a set of materialized values, as generators see it.
struct TuneSpace {
  TuneSpace(const Kernel& kernel, const runtime::Target& target, std::vector<Materialize> materializations);

  const Kernel& kernel;  ///< without the materializations, as Opts name its nodes
  const runtime::Target& target;
  std::vector<Materialize> materializations;
  KernelAnalysis analysis;     ///< with them
  std::vector<ir::UOp> fixed;  ///< ranges that run sequentially
  int64_t element_bytes = 1;   ///< of the widest element in memory

  bool is_fixed(ir::UOp range) const { return contains(fixed, range); }
  /// Accesses with unit stride along a range; a STORE counts as four.
  int contiguous_accesses(ir::UOp range);
  /// Ranges that tasks count, those with more contiguous accesses first.
  std::vector<ir::UOp> outer_ranges();
  /// The most adjacent elements along a range that every access can take as one vector of up to 16 bytes. Accesses of
  /// `staged` do not count.
  int vector_along(ir::UOp range, const StatementAnalysis* staged = nullptr);
  /// Copies of a sum's innermost range that are worth an Unroll, 1 for none: all of a short range, so that its loads
  /// are under way together and neighbors in a window share elements, or the vectors of one along which an access is
  /// contiguous.
  int copies_of_sum(const StatementAnalysis& sum);
};

/// The Opts of one range.
struct RangeShare {
  ir::UOp range;
  int lanes = 1, unroll = 1, threads = 1, stride = 1;
  int64_t width() const { return int64_t{1} * lanes * unroll * threads; }
};
/// As Opts, with `more` and the materializations behind them.
Candidate make_candidate(const char* generator, const TuneSpace& space, const std::vector<RangeShare>& shares,
                         const std::vector<Opt>& more = {});

/// Threads that share inner and outer ranges, statement by statement: streams, rows, sums down columns, and kernels of
/// several reductions.
void propose_shares(TuneSpace& space, std::vector<Candidate>& out);
/// Register tiles of one product, whose factors may go through shared memory. `space` must outlive the candidates.
void propose_products(TuneSpace& space, std::vector<Candidate>& out);
/// Tiles of a product whose results are taps of windows, which the sum moves over an image.
void propose_windows(TuneSpace& space, std::vector<Candidate>& out);
/// Tiles of a product that sums over the taps of windows. `space` must outlive the candidates.
void propose_window_sums(TuneSpace& space, std::vector<Candidate>& out);
/// Tiles of tensor cores for one product in their steps, with staged factors. `space` must outlive the candidates.
void propose_mma(TuneSpace& space, std::vector<Candidate>& out);
/// Tiles of tensor cores for two products back to back: the second one's factor is made of the first one's results.
void propose_mma_pairs(TuneSpace& space, std::vector<Candidate>& out);
/// Loads that are contiguous across the stores go through shared memory.
void propose_transposes(TuneSpace& space, std::vector<Candidate>& out);

/// The same legal candidate with results that go to memory by way of a tile, if a warp's stores would touch parts of
/// sectors.
std::optional<Candidate> with_staged_results(TuneSpace& space, const Candidate& candidate);

/// The same legal candidate with padding after rows of materialized values, if banks of shared memory serve them in
/// fewer passes by the model, and as many blocks share a multiprocessor.
std::optional<Candidate> with_padded_tiles(const TuneSpace& space, const Candidate& candidate);

/// The same with tasks that go through bands of blocks, if memory is read less often by the model. `terms`: of the
/// candidate.
std::optional<Candidate> with_task_band(const TuneSpace& space, const Candidate& candidate, const ClockTerms& terms);

/// Partial sums that a loop over blocks adds in order, as values that threads compute side by side first: each list
/// names one level of blocks.
std::vector<std::vector<Materialize>> partial_sums(TuneSpace& space);

}  // namespace sinter::codegen
