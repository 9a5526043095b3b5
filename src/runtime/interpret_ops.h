// The parts of the graph interpreter: one function per class of ops, views in, arrays out.
#pragma once

#include <span>

#include "runtime/view.h"
#include "uop/node.h"

namespace sinter::runtime {

/// An elementwise op on sources of one shape; `from` is the type of the last source, as in ir::evaluate.
Array elementwise(ir::Op op, DType dtype, DType from, std::span<const View> src);

/// Sums, products and extrema over `axes`, which keep size 1. `a` alone, or for Dot and for a sum of products
/// (`product`: each rounded to the type) with `b`. `exact`: in the type itself, in the order of the tree; else floats
/// in double.
struct Reduction {
  ir::ReduceAttr attr;
  bool product = false;
  bool exact = false;
};
Array reduce_view(const Reduction& reduction, const View& a, const View* b);

/// out[.., i, ..] = x[.., index[.., i, ..], ..]; 0 and `error` where an index is out of range.
Array gather_view(const View& x, const View& index, int64_t axis, bool& error);
/// base with base[.., index[.., i, ..], ..] += value[.., i, ..] in row-major order of value.
Array scatter_add_view(const View& base, const View& index, const View& value, int64_t axis, bool& error);

}  // namespace sinter::runtime
