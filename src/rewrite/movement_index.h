// Movement ops as functions on indices: where an element of the result lies in the source.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace sinter::ir {

/// A place: one expression of dtype Index per dim; where `valid` (bool; null: everywhere) is false there is no element,
/// the value is zero, and the indices may be anything.
struct ElementIndex {
  std::vector<UOp> index;
  UOp valid;
};

/// The place in `movement`'s source of the element that lies at `at_output` in its result. Shapes are `movement`'s and
/// its source's; the result's expressions are in `g`, the graph of the indices, and so must be the dynamic begins of a
/// Shrink or Pad (sources 1...), which are cast to Index. Everything comes back simplified under the predicate. Throws
/// InternalError if the op is no movement.
ElementIndex source_index(Graph& g, UOp movement, const ElementIndex& at_output);

/// The same for a bare reshape from `to` back to `from`.
std::vector<UOp> reshape_index(Graph& g, const Shape& from, const Shape& to, const std::vector<UOp>& at_output,
                               UOp valid = {});

/// The number of elements as an Index expression: a Const, or a Var where the size is symbolic.
UOp extent_of(Graph& g, const Dim& dim);

}  // namespace sinter::ir
