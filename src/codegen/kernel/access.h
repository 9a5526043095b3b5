// The sources of a LOAD and of a STORE: a Param, an index for each of its dims, what a STORE stores, and under a
// condition that one: its predicate. A predicated LOAD has one source more, which it comes to where the predicate is
// closed.
#pragma once

#include <span>

#include "ir/graph.h"

namespace sinter::codegen {

/// Which Param a LOAD or STORE touches.
inline int64_t slot_of(ir::UOp access) { return access->src[0]->integer(); }
/// One for each dim.
inline std::span<const ir::UOp> indices_of(ir::UOp access) {
  return std::span(access->src).subspan(1, access->src[0]->rank());
}
inline ir::UOp stored_value(ir::UOp store) { return store->src[1 + store->src[0]->rank()]; }
/// Null if the LOAD or STORE runs at any rate.
inline ir::UOp predicate_of(ir::UOp access) {
  const size_t at = (access->op == ir::Op::Store ? 2 : 1) + access->src[0]->rank();
  return at < access->src.size() ? access->src[at] : ir::UOp();
}
/// What a LOAD comes to where its predicate is closed; null if it has none.
inline ir::UOp other_of(ir::UOp load) { return predicate_of(load) ? load->src.back() : ir::UOp(); }

}  // namespace sinter::codegen
