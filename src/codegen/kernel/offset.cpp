// Accumulates strides from the last dim to the first.
#include "codegen/kernel/offset.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "ir/build.h"
#include "rewrite/interval.h"

namespace sinter::codegen {
namespace {

/// Maps the unsigned divisions that legalize() made back to IDiv and Mod of Index, and vice versa.
class DivisionForms {
 public:
  UOp index_form(UOp atom) {
    if (atom->op != Op::Cast || (atom->src[0]->op != Op::IDiv && atom->src[0]->op != Op::Mod)) return atom;
    const UOp division = atom->src[0], narrow = division->src[0];
    UOp by = division->src[1];
    while (by->op == Op::Cast) by = by->src[0];
    if (by->op != Op::Const || narrow->op != Op::Cast || narrow->src[0]->dtype != DType::Index) return atom;
    const UOp x = narrow->src[0];
    const int64_t most =
        division->dtype == DType::U32 ? std::numeric_limits<uint32_t>::max() : std::numeric_limits<int64_t>::max();
    if (!is_unsigned(division->dtype) || size_of(division->dtype) < 4 || !intervals_.of(x).within(0, most)) return atom;
    const UOp plain =
        ir::alu(division->op, {index_form(x), ir::constant(*atom->graph, DType::Index, by->scalar().as_int())});
    legal_.emplace(plain.get(), atom);
    return plain;
  }
  UOp legal_form(UOp atom) const {
    const auto it = legal_.find(atom.get());
    return it == legal_.end() ? atom : it->second;
  }

 private:
  ir::IntervalAnalysis intervals_;
  std::unordered_map<ir::Node*, UOp> legal_;
};

/// Merges an axis that was split into contiguous parts, so that the divisions by which its parts were computed cancel.
ir::LinearExpr merge_split_axes(const ir::LinearExpr& sum) {
  if (std::ranges::none_of(sum.terms, [](const ir::LinearTerm& t) { return t.atom->op == Op::Cast; })) return sum;
  DivisionForms divisions;
  ir::LinearExpr plain = ir::linear_of(sum.constant), legal = plain;
  for (const ir::LinearTerm& t : sum.terms)
    plain = ir::plus(plain, ir::linear_of(divisions.index_form(t.atom)), t.factor);
  const ir::LinearExpr joined = ir::merge_divmod(plain);
  if (joined == plain) return sum;
  legal.constant = joined.constant;
  for (const ir::LinearTerm& t : joined.terms)
    legal = ir::plus(legal, ir::linear_of(divisions.legal_form(t.atom)), t.factor);
  return legal;
}

}  // namespace

ir::LinearExpr offset_of(UOp access) {
  const Shape& shape = access->src[0]->shape;
  ir::LinearExpr stride = ir::linear_of(1), sum;
  for (size_t d = shape.rank(); d-- > 0;) {
    sum = ir::plus(sum, ir::product(ir::linear_of(access->src[1 + d]), stride));
    if (!shape[d].symbolic())
      stride = ir::times(stride, shape[d].value());
    else
      stride = ir::product(stride, ir::linear_of(ir::variable(*access->graph, shape[d].var(), DType::Index)));
  }
  return merge_split_axes(sum);
}

std::optional<int64_t> stride_along(const ir::LinearExpr& offset, UOp range, FreeRanges& ranges) {
  int64_t stride = 0;
  for (const ir::LinearTerm& t : offset.terms)
    if (t.atom == range)
      stride += t.factor;
    else if (ranges.depends(t.atom, range))
      return std::nullopt;
  return stride;
}

}  // namespace sinter::codegen
