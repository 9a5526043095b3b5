// The offset of a vector is a sum of terms. Every term except the vector's own range must be a multiple of its width.
#include "codegen/nest/nontemporal.h"

#include <algorithm>
#include <bit>

#include "codegen/kernel/access.h"
#include "codegen/kernel/offset.h"

namespace sinter::codegen {

namespace {

/// The contiguous range of a vector, and its number of elements: the lanes, or the unrolled copies of a register
/// transpose (Values::transpose_group). Null: none.
std::pair<UOp, int> vector_of(const std::vector<LoopLevel>& loops, const ir::LinearExpr& place) {
  const auto vector = std::ranges::find_if(loops, [](const LoopLevel& l) { return l.lanes > 1; });
  if (vector == loops.end()) return {};
  if (place.factor(vector->range) == 1) return {vector->range, vector->lanes};
  for (const LoopLevel& l : loops)
    if (l.unroll > 1 && l.distance == 1 && l.lanes == 1 && place.factor(l.range) == 1)
      return {l.range, std::min(vector->lanes, static_cast<int>(std::bit_floor(static_cast<unsigned>(l.unroll))))};
  return {};
}

}  // namespace

void require_whole_vectors(const NonTemporal& opt, UOp store, const std::vector<LoopLevel>& loops, FreeRanges& ranges) {
  auto require = [&](bool ok, const char* why) {
    if (!ok) refuse(to_string(opt), why);
  };
  require(store->integer() == 0, "it adds to memory");
  require(!predicate_of(store), "it has a predicate");
  const ir::LinearExpr place = offset_of(store);
  const auto [along, width] = vector_of(loops, place);
  require(width > 0, "no vector's elements are contiguous");
  const size_t bytes = size_of(store->src[0]->dtype) * static_cast<size_t>(width);
  require(bytes >= 16 && bytes <= 64, "a vector has 16 to 64 bytes");
  bool multiple = place.constant % width == 0;
  for (const LoopLevel& l : loops)
    if (l.range == along && l.width() > 1) multiple &= l.lanes == width || l.unroll % width == 0;
  for (const ir::LinearTerm& t : place.terms)
    if (!(t.atom == along) && !(t.atom->op == Op::Range && one_trip(t.atom)))
      multiple &= t.factor % width == 0 && !ranges.depends(t.atom, along);
  require(multiple, "its vectors are not aligned to their size");
}

}  // namespace sinter::codegen
