// Memory that is strided along the lanes: ranges along which it is contiguous are unrolled, so that whole lines are
// used at once.
#pragma once

#include <vector>

#include "codegen/tune/heuristic/tuning_state.h"

namespace sinter::codegen {

/// Share of the last cache from which stores to many rows at a time bypass it: hardware does not prefetch their lines.
inline constexpr double kRowStreamL3Share = .5;

/// Where a store reads or writes memory that is strided along its lanes, unrolls a range by the lanes of a register.
/// No long reduction may run along that range.
void choose_register_transposes(TuningState& state);

/// Adds an Unroll for each reduction that reads memory strided along its lanes and contiguous along its last reduced
/// range: small matrices are transposed in registers. Legal if `opts` are.
std::vector<Opt> transpose_sums(TuningState& state, std::vector<Opt> opts);

/// Ranges over rows along which a scan goes; `joined`: of scans that their kernel joins with what comes before them.
/// Lanes along those would store to as many lines in each step.
std::vector<UOp> rows_of_scans(TuningState& state, bool joined);
/// Unrolls a range over rows, so that the chains of several rows overlap.
void interleave_rows(TuningState& state, const std::vector<UOp>& rows);

}  // namespace sinter::codegen
