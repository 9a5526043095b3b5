// Accessors for the sources of LOAD and STORE. Layout: the Param, one index per dim, a STORE's value, then an optional
// predicate. A predicated LOAD has one more source: its value where the predicate is false.
#pragma once

#include <span>

#include "codegen/kernel/ir.h"

namespace sinter::codegen {

inline bool is_access(UOp n) { return n->op == Op::Load || n->op == Op::Store; }
/// Slot of the Param that a LOAD or STORE accesses.
inline int64_t slot_of(UOp access) { return access->src[0]->integer(); }
/// One index per dim.
inline std::span<const UOp> indices_of(UOp access) { return std::span(access->src).subspan(1, access->src[0]->rank()); }
inline UOp stored_value(UOp store) { return store->src[1 + store->src[0]->rank()]; }
/// Null if the LOAD or STORE is unconditional.
inline UOp predicate_of(UOp access) {
  const size_t at = (access->op == Op::Store ? 2 : 1) + access->src[0]->rank();
  return at < access->src.size() ? access->src[at] : UOp();
}
/// Value of a LOAD where its predicate is false; null without a predicate.
inline UOp other_of(UOp load) { return predicate_of(load) ? load->src.back() : UOp(); }

}  // namespace sinter::codegen
