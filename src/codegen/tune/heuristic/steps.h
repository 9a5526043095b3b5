// The steps of cpu_heuristic() that are a function and no more; each in a file of its own.
#pragma once

#include <optional>
#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "codegen/tune/heuristic/tuning_state.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// TileCopy, Split, LoopOrder and TaskBlock for a product with this register tile, in addition to its Lanes and
/// Unroll: proposals, the best first, which may be illegal. None if packing does not pay. `kernel`: the kernel whose
/// values a TileCopy numbers. `lanes`: elements of a vector.
std::vector<std::vector<Opt>> block_product(const Kernel& kernel, KernelAnalysis& analysis,
                                            const StatementAnalysis& product, const RegisterTile& tile, int lanes,
                                            const runtime::Target& target);

/// A TileCopy of the whole operand along the lanes, for a product whose columns are an inner range: each task then
/// executes all columns. None if packing does not pay or the copies of all threads exceed half of the last cache.
/// `operand` receives the packed operand.
std::optional<TileCopy> pack_operand(const Kernel& kernel, KernelAnalysis& analysis, const StatementAnalysis& product,
                                     const RegisterTile& tile, int lanes, const runtime::Target& target, UOp& operand);

/// The Opts of a blocked product with one more loop that carries it and has a single iteration. The results wait in a
/// tile until a row of them is complete. Loops behind the product then store them. This pays where neither the lanes
/// nor the unrolled copies of the register tile are contiguous in the stored memory, so that each result would go to a
/// line of its own, as in gradients of windows whose unrolled copies are images. Empty if it does not pay. The
/// proposal may be illegal.
std::vector<Opt> add_writeback_buffer(KernelAnalysis& analysis, const StatementAnalysis& product,
                                      const RegisterTile& tile, const std::vector<Opt>& opts);

/// A Prefetch for each operand of a product that does not depend on the lanes and whose rows are far apart. The rows
/// of the next tile are prefetched while a tile is summed: they begin at addresses that hardware does not predict.
/// None if the operands nearly fit the second cache, if the tile has no load slots to spare, or if the rows of both
/// tiles would fill their sets of the first cache. On Zen 1, with 8 ways, a product of 1024 whose second operand lies
/// in panels of 64 columns takes 0.84 of the time without prefetch. The proposals may be illegal.
std::vector<Opt> prefetch_tile_rows(const Kernel& kernel, KernelAnalysis& analysis, const StatementAnalysis& product,
                                    const RegisterTile& tile, const runtime::Target& target);

/// All Opts of a kernel whose only reduction is a product of windows that reach over a border, with rows of whole
/// vectors. Empty for other kernels, and if the Opts are illegal.
std::vector<Opt> stage_window_rows(TuningState& state);

/// Unroll, Split, TaskBlock and LoopOrder for a product or a reduction with this register tile of `lanes` lanes. They
/// replace the unrolled copies of the tile. The reduced range becomes an outer loop over a few rows at a time. The
/// blocks of a longer reduction run around it, one after the other. The accumulators of a block of columns stay in
/// cache. If several results use an element, the rows pass under a register tile of their own.
///
/// Empty if no operand is contiguous along the lanes with one row per reduced value, if rows are too short for the
/// threads that share them, or if the operand has enough reuse to be packed. The proposals may be illegal.
std::vector<Opt> stream_product(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile,
                                int lanes, const runtime::Target& target);

/// Share of the last cache from which stores to many rows at a time bypass it: hardware does not prefetch their lines.
inline constexpr double kRowStreamL3Share = .5;

/// Where a store reads or writes memory that is strided along its lanes, unrolls a range by the lanes of a register.
/// No long reduction may run along that range. Results that lie between the strided lanes of a sum become copies, too.
void choose_register_transposes(TuningState& state);

/// Adds an Unroll for each reduction that reads memory strided along its lanes and contiguous along its last reduced
/// range: small matrices are transposed in registers. Legal if `opts` are.
std::vector<Opt> transpose_sums(TuningState& state, std::vector<Opt> opts);

/// Ranges over rows along which a scan goes; `joined`: of scans that their kernel joins with what comes before them.
/// Lanes along those would store to as many lines in each step.
std::vector<UOp> rows_of_scans(TuningState& state, bool joined);
/// Unrolls a range over rows, so that the chains of several rows overlap.
void interleave_rows(TuningState& state, const std::vector<UOp>& rows);

/// Whether each addition of a reduction waits for the one before: it has neither lanes nor chains.
bool is_serial_sum(const TuningState& state, const StatementAnalysis& w);

/// Chooses unrolled copies for ranges that belong to neither a product nor a register transpose. Then adds the Lanes
/// and Unrolls of all ranges to the Opts.
void choose_unrolls(TuningState& state);

/// Unrolls an outer range of a kernel that is memory-bound and whose only reductions are those of rows, each read
/// once. These streams get no prefetch (stream_prefetch.cpp): hardware fetches them in time, and together.
void choose_multi_row_reduction(TuningState& state);

/// Prefetches for operands of reductions that exceed the second cache by far and are read from beginning to end:
///
///   - one row at a time: hardware prefetch ends with each page and pauses while a row is processed;
///   - in vectors under masks, as windows with a border: hardware does not predict these loads;
///   - in adjacent rows that are transposed in registers.
///
/// Also for an operand that a store reads without a reduction and that exceeds the last cache, if it is the only one:
/// arithmetic keeps a core from looking far ahead. Plain copies neither gain nor lose. None for whole vectors of
/// several adjacent rows, which are as many hardware streams. Where the last cache is far, only the second of several
/// loops over a row prefetches, and data that one loop reads is prefetched from a shorter distance. The proposals may
/// be illegal.
std::vector<Opt> prefetch_streams(TuningState& state);

/// `opts` for a product that reads rows from memory once: copies of short outer rows are some rows apart, copies of the
/// rows inside a task leave none over. Legal if `opts` are.
std::vector<Opt> separate_row_streams(TuningState& state, const std::vector<Opt>& opts);

/// The range whose cuts save most, with lanes as they are chosen. None if they save little, or make the code much
/// longer. Predicates of products are left to peel.h, and cut ranges are in no register tile.
std::optional<RangeCut> choose_cut(TuningState& state);

/// Adds the Cut of the chosen range. A step that contains a seam is a segment of its own. Legal if `opts` are.
std::vector<Opt> add_cut(TuningState& state, std::vector<Opt> opts);

/// Adds an Unroll for the innermost loop of each product, and of windows of 2 x 2 for the loop around it: fewer
/// branches are taken, and the exit of a short loop is predicted. `opts` must already have the Cuts. Legal if `opts`
/// are.
std::vector<Opt> unroll_products(TuningState& state, std::vector<Opt> opts);

/// Adds TaskBlocks to the Opts. Tasks take about kTaskCycles cycles, suffice for all threads, share what they read,
/// and recompute little.
void choose_task_grain(TuningState& state);

}  // namespace sinter::codegen
