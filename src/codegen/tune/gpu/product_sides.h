// A product as its generators see it: which ranges of the result each factor depends on.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "codegen/tune/gpu/candidates.h"

namespace sinter::codegen {

/// The results form a rectangle: ranges of one factor along one side, ranges of the other factor along the other side.
struct ProductSides {
  const StatementAnalysis* product = nullptr;
  /// Factors without a predicate that both share: that skips the step; a factor's tile holds the value without it.
  std::array<ir::UOp, 2> values;
  /// Columns, which are close in the result's memory, and rows. The closest range in memory comes first.
  std::array<std::vector<ir::UOp>, 2> sides;
  std::vector<ir::UOp> parts;  ///< inner ranges that count blocks of the sum, which threads may add up side by side
};

/// The product that does nearly all of a kernel's work; none if there is no such product.
std::optional<ProductSides> product_sides(TuneSpace& space);

/// Whether tiles with these shares leave a block for every other multiprocessor. Small ones must not make very many
/// blocks.
bool fills_machine(TuneSpace& space, const StatementAnalysis& product, const std::vector<RangeShare>& shares);

}  // namespace sinter::codegen
