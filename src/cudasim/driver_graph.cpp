// Graphs of launches. A graph that is instantiated keeps copies: what happens to the graph after does not change it.
#include <algorithm>

#include "cudasim/driver_handles.h"

namespace sinter::runtime::cuda::sim {
namespace {

OpaqueGraph& graph_of(Graph graph) {
  const auto found = state().graphs.find(graph);
  if (found == state().graphs.end()) throw Refusal{Result::InvalidHandle};
  return *found->second;
}
OpaqueGraphExec& exec_of(GraphExec exec) {
  const auto found = state().execs.find(exec);
  if (found == state().execs.end()) throw Refusal{Result::InvalidHandle};
  return *found->second;
}

BoundLaunch bind_node(const KernelNode& node) {
  if (node.extra || !node.function) throw Refusal{Result::InvalidValue};
  return bind_launch(
      node.function,
      {{node.grid_x, node.grid_y, node.grid_z}, {node.block_x, node.block_y, node.block_z}, node.dynamic_shared},
      node.parameters);
}

Result add_node(GraphNode* out, Graph handle, const GraphNode* before, size_t count, const KernelNode& parameters) {
  OpaqueGraph& graph = graph_of(handle);
  size_t after = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto found =
        std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) { return node.get() == before[i]; });
    if (found == graph.nodes.end()) return Result::InvalidValue;
    after = std::max(after, static_cast<size_t>(found - graph.nodes.begin()) + 1);
  }
  graph.nodes.push_back(std::make_unique<OpaqueGraphNode>(OpaqueGraphNode{bind_node(parameters), after}));
  *out = graph.nodes.back().get();
  return Result::Success;
}

Result set_node(OpaqueGraphExec& exec, GraphNode node, const KernelNode& parameters) {
  for (auto& [own, launch, after] : exec.launches)
    if (own == node) {
      if (launch.function != parameters.function) return Result::InvalidValue;
      launch = bind_node(parameters);
      return Result::Success;
    }
  return Result::InvalidValue;
}

/// One node after another; those that run since the last one that a node waits for could run beside it.
void run_nodes(DeviceState& device, const std::vector<OpaqueGraphExec::Launch>& launches) {
  std::vector<uint32_t> times = {Block::tick()};  // when the first nodes were done: none, one, two
  for (const auto& [node, launch, after] : launches) {
    run_bound(device, launch, times[after]);
    times.push_back(Block::tick());
  }
}

}  // namespace

void fill_graphs(Driver& table) {
  table.graph_create = [](Graph* graph, unsigned) {
    return answer_on_device([&](DeviceState&) {
      auto made = std::make_unique<OpaqueGraph>();
      *graph = made.get();
      state().graphs[*graph] = std::move(made);
      return Result::Success;
    });
  };
  table.graph_destroy = [](Graph graph) {
    return answer([&] { return state().graphs.erase(graph) ? Result::Success : Result::InvalidHandle; });
  };
  table.graph_add_kernel_node = [](GraphNode* node, Graph graph, const GraphNode* before, size_t count,
                                   const KernelNode* parameters) {
    return answer_on_device([&](DeviceState&) { return add_node(node, graph, before, count, *parameters); });
  };
  table.graph_instantiate_with_flags = [](GraphExec* exec, Graph graph, unsigned long long) {
    return answer_on_device([&](DeviceState&) {
      auto made = std::make_unique<OpaqueGraphExec>();
      for (const auto& node : graph_of(graph).nodes) made->launches.push_back({node.get(), node->launch, node->after});
      *exec = made.get();
      state().execs[*exec] = std::move(made);
      return Result::Success;
    });
  };
  table.graph_exec_kernel_node_set_params = [](GraphExec exec, GraphNode node, const KernelNode* parameters) {
    return answer_on_device([&](DeviceState&) { return set_node(exec_of(exec), node, *parameters); });
  };
  table.graph_exec_destroy = [](GraphExec exec) {
    return answer([&] { return state().execs.erase(exec) ? Result::Success : Result::InvalidHandle; });
  };
  // A launch takes the parameters as they are now: what is set later is for the next one.
  table.graph_launch = [](GraphExec exec, Stream stream) {
    return answer_on_device([&](DeviceState& device) {
      enqueue(device, stream, [&device, launches = exec_of(exec).launches] { run_nodes(device, launches); });
      return Result::Success;
    });
  };
}

}  // namespace sinter::runtime::cuda::sim
