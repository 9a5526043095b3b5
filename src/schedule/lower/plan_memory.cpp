// Buffers of a plan.
#include "schedule/lower/plan_memory.h"

#include <fmt/core.h>

#include <algorithm>

#include "ir/combine.h"
#include "sinter/error.h"

namespace sinter::schedule {
using runtime::PlanBuffer;

runtime::PlanDim plan_dim(const Dim& dim, const std::vector<Var>& vars) {
  if (!dim.symbolic()) return {dim.value(), -1};
  auto it = std::ranges::find(vars, dim.var());
  if (it == vars.end()) throw InternalError(fmt::format("plan: no variable {}", dim.var().name()));
  return {0, static_cast<int>(it - vars.begin())};
}

int add_buffer(runtime::Plan& plan, PlanBuffer::Kind kind, DType dtype, const Shape& shape,
               const std::vector<Var>& vars) {
  PlanBuffer b;
  b.kind = kind;
  b.dtype = dtype;
  for (const Dim& d : shape) b.shape.push_back(plan_dim(d, vars));
  b.bound_bytes = shape.bound() * static_cast<int64_t>(size_of(dtype));
  plan.buffers.push_back(std::move(b));
  return static_cast<int>(plan.buffers.size()) - 1;
}

Placement place_values(const PlanGraph& graph, const Partition& p, runtime::Plan& plan) {
  for (const PlanSlot& s : graph.slots) add_buffer(plan, PlanBuffer::Kind::Slot, s.dtype, s.shape, graph.vars);
  Placement placement;
  placement.node_buffers.assign(p.graph.nodes.size(), -1);
  for (size_t o = 0; o < graph.outputs.size(); ++o) {
    const int node = p.graph.output_nodes[o];
    int buffer = p.graph.homes[o];
    if (buffer < 0) {
      const UOp value = p.graph.nodes[node].uop;  // as stored: an output may be a reshape of it
      buffer = add_buffer(plan, PlanBuffer::Kind::Output, value->dtype, value->shape, graph.vars);
    }
    placement.output_buffers.push_back(buffer);
    placement.node_buffers[node] = buffer;
  }
  for (size_t s = 0; s < p.graph.nodes.size(); ++s) {
    if (p.kernel_of[s] < 0 || placement.node_buffers[s] >= 0) continue;
    const UOp value = p.graph.nodes[s].uop;
    placement.node_buffers[s] = add_buffer(plan, PlanBuffer::Kind::Scratch, value->dtype, value->shape, graph.vars);
  }
  for (size_t k = 0; k < p.kernels.size(); ++k) {
    const FusionGroup& kernel = p.kernels[k];
    const std::vector<SplitReduction> sums = split_reductions_of(kernel);
    for (size_t i = 0; i < sums.size(); ++i) {
      const auto& [sum, ranges] = sums[i];
      std::vector<int>& parts = placement.parts[{static_cast<int>(k), sum}];
      for (size_t j = 0; j < i && parts.empty(); ++j)
        if (shares_partials(p.graph, sums[j], sums[i]))
          parts = placement.parts.at({static_cast<int>(k), sums[j].first});
      if (!parts.empty()) continue;
      std::vector<Dim> dims = ir::mapped(ranges, [&](int a) { return tasks_along(p.space, kernel, a); });
      const UOp value = p.graph.nodes[sum].uop;
      dims.insert(dims.end(), value->shape.begin(), value->shape.end());
      const Shape shape(dims);
      for (DType t : ir::accumulator_types(value))
        parts.push_back(add_buffer(plan, PlanBuffer::Kind::Scratch, t, shape, graph.vars));
    }
  }
  plan.outputs = placement.output_buffers;
  return placement;
}

}  // namespace sinter::schedule
