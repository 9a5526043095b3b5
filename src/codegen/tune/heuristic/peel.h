// Image edges: the values of a range for which the predicate of a product is false for some elements.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/tune/heuristic/tuning_state.h"

namespace sinter::codegen {

/// Values of a range in [from, to), at which all conditions hold that depend on it. `from` is at most `to`.
struct Interior {
  int64_t from = 0, to = 0;
};

/// The interior of `range` under the predicate of a product. None if unrolled copies at the edge would not have
/// constant predicates, or if too few tasks remain for the threads when each covers the whole range. Constant
/// predicates require that conditions which depend on `range` depend on no other inner range but the innermost one,
/// which must be short enough to unroll completely. Conditions that do not depend on `range` guard whole steps.
std::optional<Interior> interior_of(KernelAnalysis& analysis, const StatementAnalysis& product, UOp range,
                                    const runtime::Target& target);

/// A condition of an image's border; the factor that a step beyond it multiplies with 0; the share of such steps.
struct Border {
  UOp condition, other;
  double share;
};
/// Those of a product whose other factor is a LOAD.
std::vector<Border> borders_of(KernelAnalysis& analysis, const StatementAnalysis& product);

/// Cuts off each step of `copies` unrolled copies that contains values outside of the interior. Cuts nothing if only
/// the remainder behind the last whole step contains such values. None if there are too many steps.
std::optional<Cut> peel_outside(const Interior& interior, KernelAnalysis& analysis, UOp range, int copies);

/// The Cut of a product's rows, if the predicate depends on them.
std::optional<Cut> peel_of(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile,
                           const runtime::Target& target);

/// Adds a Cut for the rows of each product whose predicate depends on them. Legal if `opts` are.
std::vector<Opt> peel_products(TuningState& state, std::vector<Opt> opts);

/// Whether the predicate needs no evaluation with these Opts: it is constant in each unrolled copy of a product's rows
/// at the edge, and true in all others.
bool peels_edges(TuningState& state, const TuningState::TiledProduct& product, const std::vector<Opt>& opts);

}  // namespace sinter::codegen
