// What a request reaches: one walk, and the counts by which it is known what something else still holds (SEMANTICS V4).
#pragma once

#include <cstdint>
#include <vector>

#include "ir/tensor_graph.h"

namespace sinter::plan {

/// What a plan is asked for. The caller holds the tensor graph's mutex, and its pool is drained: counts are exact.
struct Request {
  ir::Sources roots;    ///< to be stored, none has storage: what was asked for, then recorded versions in program order
  ir::Sources ending;   ///< one entry per reference that ends before the launch: those of cells that a step() switches
  ir::Sources kept;     ///< one entry per reference of the caller himself, who lets go afterwards
  bool copies = false;  ///< the roots are COPYs of values that have storage; else no COPY is pending below them
  bool lean = false;    ///< memory is short: what nobody asked for stays lazy where that saves memory (SEMANTICS V6)
};

struct Liveness {
  std::vector<ir::UOp> order;    ///< every node met, sources first; node->position is its place here
  std::vector<uint32_t> ending;  ///< of each: references that end with the plan
  uint64_t mark = 0;             ///< of the nodes met
  bool claimed = false;          ///< a plan in flight will store one of the nodes: wait, and ask again
  bool mixed = false;            ///< what was asked for spans devices: ask for its parts

  bool met(const ir::Node* n) const { return n->mark == mark; }
  /// Something beside the plan holds the node.
  bool held(ir::UOp n) const { return n->state.refs > ending[n->position]; }
};

/// Walks from the roots, and from the losses behind gradients that it meets. Nodes with storage are not looked behind.
/// Throws the error of a poisoned storage that the plan would read (SEMANTICS V6). `out` gives its memory.
void compute_liveness(const Request& request, Liveness& out);

}  // namespace sinter::plan
