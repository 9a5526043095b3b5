// Broadcast constants: a scalar, repeated.
#pragma once

#include "ir/node.h"

namespace sinter::ir {

/// The Const that every element of `u` equals, looking through Expand and Reshape. Null if there is none.
inline UOp splat_const(UOp u) {
  while ((u->op == Op::Expand || u->op == Op::Reshape) && !u->src.empty()) u = u->src[0];
  return u->op == Op::Const ? u : UOp();
}

}  // namespace sinter::ir
