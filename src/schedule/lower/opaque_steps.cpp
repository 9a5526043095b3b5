// Finds a node's buffers, and the steps by its op.
#include "schedule/lower/opaque_steps.h"

#include "ir/contains.h"
#include "sinter/error.h"

namespace sinter::schedule {
namespace {

const FusionNode& node_of(const Partition& p, int kernel) {
  const int node = p.kernels[kernel].outputs[0].node;
  return p.graph.nodes[node];
}

}  // namespace

OpaqueRows::OpaqueRows(const Shape& result) {
  for (size_t i = 0; i + 1 < result.rank(); ++i) {
    sizes.push_back(result[i]);
    if (result[i].symbolic() && !ir::contains(vars, result[i].var())) vars.push_back(result[i].var());
  }
  if (vars.empty()) sizes = {Dim(Shape(sizes).numel())};
}

Shape OpaqueRows::with(std::initializer_list<Dim> inner) const {
  std::vector<Dim> dims = sizes;
  dims.insert(dims.end(), inner.begin(), inner.end());
  return Shape(dims);
}

bool is_opaque(const Partition& p, int kernel) { return node_of(p, kernel).kind == FusionNodeKind::Opaque; }

std::vector<KernelInstance> opaque_steps(const PlanGraph& graph, const Partition& p, const Placement& placement,
                                         int kernel, const runtime::Target& target, runtime::Plan& plan) {
  const FusionGroup& group = p.kernels[kernel];
  if (group.members.size() != 1) throw InternalError("an opaque node shares its kernel");
  const FusionNode& node = node_of(p, kernel);
  OpaqueNode opaque{node.uop, {}, {}, placement.node_buffers[group.outputs[0].node]};
  for (const FusionEdge& source : node.sources) {
    if (source.node < 0) throw InternalError("the source of an opaque node is not in memory");
    const FusionNode& read = p.graph.nodes[source.node];
    opaque.from.push_back(read.kind == FusionNodeKind::Buffer ? static_cast<int>(read.uop->integer())
                                                              : placement.node_buffers[source.node]);
    opaque.types.push_back(read.uop->dtype);
  }
  if (node.uop->op == Op::Sort) return sort_steps(graph, opaque, target, plan);
  return {lapack_step(opaque)};
}

}  // namespace sinter::schedule
