// The nodes that a request reaches, in one walk, and the references that something else still holds (SEMANTICS V4).
#pragma once

#include <cstdint>
#include <vector>

#include "ir/tensor_graph.h"

namespace sinter::plan {

/// The values to compute. The caller holds the tensor graph's mutex, and its pool is drained, so that counts are exact.
struct Request {
  ir::Sources roots;  ///< to store, none has storage: the requested nodes, then recorded versions in program order
  ir::Sources
      dying_refs;       ///< one entry per reference that ends before the launch: those of cells that a step() switches
  ir::Sources kept;     ///< one entry per reference of the caller, which drops them afterwards
  bool copies = false;  ///< the roots are COPYs of values that have storage; else no COPY is pending below them
  bool lean = false;    ///< memory is short: unrequested values stay lazy if that saves memory (SEMANTICS V6)
};

struct Liveness {
  std::vector<ir::UOp> order;    ///< visited nodes, sources first; node->position is the index here
  std::vector<uint32_t> ending;  ///< per node: references that end with the plan
  uint64_t mark = 0;             ///< of the visited nodes
  bool claimed = false;          ///< a plan in flight will store one of the nodes: wait, and ask again
  bool mixed = false;            ///< the request spans devices: split it

  bool met(const ir::Node* n) const { return n->mark == mark; }
  /// Something outside the plan holds the node.
  bool held(ir::UOp n) const { return n->state.refs > ending[n->position]; }
};

/// Walks from the roots, and from the losses behind gradients that it visits. Stops at nodes with storage. Throws the
/// error of a poisoned storage that the plan would read (SEMANTICS V6). Reuses the memory of `out`.
void compute_liveness(const Request& request, Liveness& out);

}  // namespace sinter::plan
