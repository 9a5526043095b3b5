// A skinny product over an operand that comes from memory: how to go through it in the order in which it lies.
#pragma once

#include <vector>

#include "codegen/opt.h"
#include "codegen/register_tile.h"
#include "codegen/view.h"
#include "runtime/target.h"

namespace sinter::codegen {

/// Unroll, Split, Block and Order for a product with this register tile, in place of its copies; empty where no operand lies along
/// the tile's lanes, page after page of it for each summed value, or where enough results share it to copy it into tiles. What is
/// summed stands outside then, some rows at a time, and the sums of a block rest in cache. Proposals: whether they are legal is
/// another question.
std::vector<Opt> stream_product(View& view, const Work& product, const RegisterTile& tile, const runtime::Target& target);

}  // namespace sinter::codegen
