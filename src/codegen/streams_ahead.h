// Rows that come from memory one after the other: how far ahead they are asked for.
#pragma once

#include <vector>

#include "codegen/opt.h"
#include "codegen/register_tile.h"
#include "codegen/view.h"
#include "runtime/target.h"

namespace sinter::codegen {

/// A Prefetch for each operand of sums that is read from its beginning to its end, one row at a time, and does not fit the second cache by
/// far: what a core asks for by itself ends with each page, and waits while a row is computed with. `widths`: ranges with lanes and copies.
/// None for operands of which several rows are read side by side, which are as many streams already. Proposals: whether they are legal is another
/// question.
std::vector<Opt> streams_ahead(const Kernel& kernel, View& view, const std::vector<Width>& widths, const runtime::Target& target);

}  // namespace sinter::codegen
