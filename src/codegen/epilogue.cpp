// Which copies a store keeps.
#include "codegen/epilogue.h"

#include <algorithm>

#include "codegen/offset.h"

namespace sinter::codegen {

using ir::Op;
using ir::UOp;

namespace {

constexpr int kVectors = 2;  ///< of one range that are stored in one turn, at most

/// The width of a loop has to divide what it was, since blocks are multiples of that.
int fewer(int copies) { return copies % kVectors == 0 ? kVectors : 1; }

bool side_by_side(const std::vector<UOp>& body, UOp range) {
  return std::any_of(body.begin(), body.end(), [&](UOp n) {
    return (n->op == Op::Load || n->op == Op::Store) && offset_of(n).factor(range) == 1;
  });
}

}  // namespace

void drop_copies(Statement& store, const std::vector<Statement>& before) {
  size_t shared = 0;  // loops around all of it
  bool reads = false;
  for (const Dep& d : store.deps) {
    if (d.why != Dep::Why::Value) continue;
    const Statement& sum = before[static_cast<size_t>(d.on)];
    if (!sum.carried()) return;
    reads = true;
    shared = std::max(shared, sum.own);
  }
  if (!reads) return;
  const std::vector<UOp> body = body_of(store.node);
  for (size_t i = shared; i < store.loops.size(); ++i) {
    Level& l = store.loops[i];
    if (!side_by_side(body, l.range))
      l.unroll = 1;
    else if (l.lanes > 1)
      l.unroll = fewer(l.unroll);
  }
}

}  // namespace sinter::codegen
