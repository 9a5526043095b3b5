// Movement ops as functions on indices: where an element of the result is found in the source.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace sinter::ir {

/// The index of an element: one expression of dtype Index per dim. Where `valid` (bool; null means true) is false there
/// is no element: the value is zero and the indices are arbitrary.
struct ElementIndex {
  std::vector<UOp> index;
  UOp valid;
};

/// The index into `movement`'s source of the element at `at_output` of its result. Shapes are taken from `movement` and
/// its source. The expressions are built in `g`, the graph of the indices; the dynamic begins of a Shrink or Pad
/// (sources 1...) must be in `g` as well and are cast to Index. The result is simplified under the predicate. Throws
/// InternalError if the op is not a movement.
ElementIndex source_index(Graph& g, UOp movement, const ElementIndex& at_output);

/// The same for a bare reshape, from `to` back to `from`.
std::vector<UOp> reshape_index(Graph& g, const Shape& from, const Shape& to, const std::vector<UOp>& at_output,
                               UOp valid = {});

/// The size as an Index expression: a Const, or a Var if it is symbolic.
UOp extent_of(Graph& g, const Dim& dim);

}  // namespace sinter::ir
