// Kernels of nodes that are no loop nests: what they do is one op in a kernel of its own.
#pragma once

#include <vector>

#include "runtime/base/target.h"
#include "runtime/exec/plan.h"
#include "schedule/graph/plan_graph.h"
#include "schedule/lower/rangeify.h"

namespace sinter::schedule {

/// Whether this kernel of the partition is an opaque node.
bool is_opaque(const Partition& p, int kernel);

/// The kernels of an opaque node, to run one after the other. Adds the memory between them to `plan`.
std::vector<KernelInstance> opaque_steps(const PlanGraph& graph, const Partition& p, const Placement& placement,
                                         int kernel, const runtime::Target& target, runtime::Plan& plan);

/// An opaque node and its buffers.
struct OpaqueNode {
  UOp uop;
  std::vector<int> from;
  std::vector<DType> types;  ///< of what lies in `from`
  int to = -1;
};

/// The outer sizes of an opaque node's kernels, one task or several per row of its result.
struct OpaqueRows {
  explicit OpaqueRows(const Shape& result);

  std::vector<Dim> sizes;  ///< one range over all rows, where the sizes are known
  std::vector<Var> vars;
  /// The shape of a Param with these sizes behind the rows.
  Shape with(std::initializer_list<Dim> inner) const;
};

/// A Sort: rows in runs, then merges of runs until each row is one. A row that fits a task is one step. The rows of a
/// CPU's task are as long as they may be; a long row is cut only where threads would be idle.
std::vector<KernelInstance> sort_steps(const PlanGraph& graph, const OpaqueNode& node, const runtime::Target& target,
                                       runtime::Plan& plan);

/// A call of LAPACK, a task per matrix.
KernelInstance lapack_step(const OpaqueNode& node);

}  // namespace sinter::schedule
