// The edges of an image: the values of a range at which the gate of a product's elements is closed for some of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/tune/heuristic/tuning_state.h"

namespace sinter::codegen {

/// Values from `from` on and below `to` of a range, at which all conditions hold that change with it; `from` is at most
/// `to`.
struct Interior {
  int64_t from = 0, to = 0;
};

/// Of the gate of a product, if its conditions change with `range` and the copies of a step at the edge may know their
/// answers: with nothing else but the innermost range, whose steps may all follow one another, and if a point may hold
/// the whole range, since others leave threads enough.
std::optional<Interior> interior_of(KernelAnalysis& analysis, const StatementAnalysis& product, ir::UOp range,
                                    const runtime::Target& target);

/// The steps with so many copies of a range that hold values which are not inside: {0, 0} if only what no whole step
/// covers does. None where these are too many.
std::optional<Peel> peel_outside(const Interior& interior, KernelAnalysis& analysis, ir::UOp range, int copies);

/// Of a product's rows, if that gate changes with them.
std::optional<Peel> peel_of(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile,
                            const runtime::Target& target);

/// With a Peel for the rows of each product whose gate changes with them. Legal if `opts` are.
std::vector<Opt> peel_products(TuningState& state, std::vector<Opt> opts);

/// Whether, with these Opts, each copy of a product's rows at the edge knows what its gate leaves, and no other one has
/// to ask.
bool peels_edges(TuningState& state, const TuningState::TiledProduct& product, const std::vector<Opt>& opts);

}  // namespace sinter::codegen
