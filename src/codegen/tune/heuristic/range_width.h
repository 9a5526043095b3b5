// Lanes and unrolled copies that ranges have before a product gets its tile.
#pragma once

#include <algorithm>
#include <vector>

#include "codegen/tune/heuristic/kernel_analysis.h"

namespace sinter::codegen {

struct RegisterTile;

/// The width that a range already has for another product.
struct RangeWidth {
  UOp range;
  int lanes = 1, unroll = 1;
  int64_t total() const { return int64_t{1} * lanes * unroll; }
};
/// The width of a range by a list; one lane and one copy if it is not listed.
inline RangeWidth width_of(const std::vector<RangeWidth>& widths, UOp range) {
  const auto it = std::ranges::find_if(widths, [&](const RangeWidth& w) { return w.range == range; });
  return it == widths.end() ? RangeWidth{range} : *it;
}

/// Whether a tile of a product keeps the widths that ranges already have, and the lanes of those that have some.
bool keeps_widths(const KernelAnalysis& analysis, const RegisterTile& tile, const StatementAnalysis& product,
                  const std::vector<RangeWidth>& given);

}  // namespace sinter::codegen
