// Accessors for the sources of LOAD and STORE. Layout: the Param, one index per dim, a STORE's value, then an optional
// predicate. A predicated LOAD has one more source: its value where the predicate is false.
#pragma once

#include <span>

#include "ir/graph.h"

namespace sinter::codegen {

inline bool is_access(ir::UOp n) { return n->op == ir::Op::Load || n->op == ir::Op::Store; }
/// Slot of the Param that a LOAD or STORE accesses.
inline int64_t slot_of(ir::UOp access) { return access->src[0]->integer(); }
/// One index per dim.
inline std::span<const ir::UOp> indices_of(ir::UOp access) {
  return std::span(access->src).subspan(1, access->src[0]->rank());
}
inline ir::UOp stored_value(ir::UOp store) { return store->src[1 + store->src[0]->rank()]; }
/// Null if the LOAD or STORE is unconditional.
inline ir::UOp predicate_of(ir::UOp access) {
  const size_t at = (access->op == ir::Op::Store ? 2 : 1) + access->src[0]->rank();
  return at < access->src.size() ? access->src[at] : ir::UOp();
}
/// Value of a LOAD where its predicate is false; null without a predicate.
inline ir::UOp other_of(ir::UOp load) { return predicate_of(load) ? load->src.back() : ir::UOp(); }

}  // namespace sinter::codegen
