// Graphs of launches. An instantiated graph keeps copies, so later changes to the graph do not affect it.
#include <algorithm>

#include "cudasim/driver_handles.h"

namespace sinter::runtime::cuda::sim {
namespace {

OpaqueGraph& graph_of(GraphHandle graph) { return object_of(state().graphs, graph); }
OpaqueGraphExec& exec_of(GraphExecHandle exec) { return object_of(state().execs, exec); }

BoundLaunch bind_node(const KernelNodeParams& node) {
  if (node.extra || !node.function) throw ApiError{CudaResult::InvalidValue};
  return bind_launch(
      node.function,
      {{node.grid_x, node.grid_y, node.grid_z}, {node.block_x, node.block_y, node.block_z}, node.dynamic_shared},
      node.parameters);
}

void add_node(GraphNodeHandle* out, GraphHandle handle, const GraphNodeHandle* before, size_t count,
              const KernelNodeParams& parameters) {
  OpaqueGraph& graph = graph_of(handle);
  size_t after = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto found = std::ranges::find_if(graph.nodes, [&](const auto& node) { return node.get() == before[i]; });
    if (found == graph.nodes.end()) throw ApiError{CudaResult::InvalidValue};
    after = std::max(after, static_cast<size_t>(found - graph.nodes.begin()) + 1);
  }
  graph.nodes.push_back(std::make_unique<OpaqueGraphNode>(OpaqueGraphNode{bind_node(parameters), after}));
  *out = graph.nodes.back().get();
}

CudaResult set_node(OpaqueGraphExec& exec, GraphNodeHandle node, const KernelNodeParams& parameters) {
  for (auto& [own, launch, after] : exec.launches)
    if (own == node) {
      if (launch.function != parameters.function) return CudaResult::InvalidValue;
      launch = bind_node(parameters);
      return CudaResult::Success;
    }
  return CudaResult::InvalidValue;
}

/// Runs the nodes one after another. Those after the last node that a node waits for could run concurrently with it.
void run_nodes(DeviceState& device, const std::vector<OpaqueGraphExec::NodeLaunch>& launches) {
  std::vector<uint32_t> times = {SimBlock::tick()};  // times[i]: when the first i nodes were done
  for (const auto& [node, launch, after] : launches) {
    run_bound_launch(device, launch, times[after]);
    times.push_back(SimBlock::tick());
  }
}

}  // namespace

void fill_graphs(DriverApi& table) {
  table.graph_create = [](GraphHandle* graph, unsigned) {
    return api_call_on_device([&](DeviceState&) { *graph = keep(state().graphs, std::make_unique<OpaqueGraph>()); });
  };
  table.graph_destroy = [](GraphHandle graph) {
    return api_call([&] { return state().graphs.erase(graph) ? CudaResult::Success : CudaResult::InvalidHandle; });
  };
  table.graph_add_kernel_node = [](GraphNodeHandle* node, GraphHandle graph, const GraphNodeHandle* before,
                                   size_t count, const KernelNodeParams* parameters) {
    return api_call_on_device([&](DeviceState&) { return add_node(node, graph, before, count, *parameters); });
  };
  table.graph_instantiate_with_flags = [](GraphExecHandle* exec, GraphHandle graph, unsigned long long) {
    return api_call_on_device([&](DeviceState&) {
      auto made = std::make_unique<OpaqueGraphExec>();
      for (const auto& node : graph_of(graph).nodes) made->launches.push_back({node.get(), node->launch, node->after});
      *exec = keep(state().execs, std::move(made));
    });
  };
  table.graph_exec_kernel_node_set_params = [](GraphExecHandle exec, GraphNodeHandle node,
                                               const KernelNodeParams* parameters) {
    return api_call_on_device([&](DeviceState&) { return set_node(exec_of(exec), node, *parameters); });
  };
  table.graph_exec_destroy = [](GraphExecHandle exec) {
    return api_call([&] { return state().execs.erase(exec) ? CudaResult::Success : CudaResult::InvalidHandle; });
  };
  // A launch uses the parameters as they are now. Later updates affect the next launch.
  table.graph_launch = [](GraphExecHandle exec, StreamHandle stream) {
    return api_call_on_device([&](DeviceState& device) {
      enqueue(device, stream, [&device, launches = exec_of(exec).launches] { run_nodes(device, launches); });
    });
  };
}

}  // namespace sinter::runtime::cuda::sim
