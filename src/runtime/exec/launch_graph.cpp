// Records launches, compares them with the existing graphs, and updates a graph where it differs.
#include "runtime/exec/launch_graph.h"

#include <fmt/core.h>

#include <algorithm>

#include "runtime/base/env.h"
#include "runtime/cuda/context.h"

namespace sinter::runtime::cuda {
namespace {

constexpr size_t kNamed = 8;   ///< kernels named in the message of a fault, at most
constexpr size_t kGraphs = 4;  ///< graphs kept, at most: output memory recurs every few runs

}  // namespace

LaunchGraph::LaunchGraph(std::shared_ptr<Context> context) : context_(std::move(context)) {}
LaunchGraph::~LaunchGraph() {
  drop_graphs();
  if (tickets_) context_->allocator().deallocate(tickets_, ticket_words_ * sizeof(uint32_t));
}

DevicePointer LaunchGraph::tickets(size_t words) {
  if (words <= ticket_words_) return tickets_;
  const size_t bytes = words * sizeof(uint32_t);
  const DevicePointer made = context_->allocator().allocate(bytes);
  try {
    context_->fill(made, 0, bytes);
  } catch (...) {
    context_->allocator().deallocate(made, bytes);
    throw;
  }
  if (tickets_) context_->allocator().deallocate(tickets_, ticket_words_ * sizeof(uint32_t));
  ticket_words_ = words;
  return tickets_ = made;
}

void LaunchGraph::begin() {
  recorded_ = stage_ = 0;
  same_shape_ = true;
}

void LaunchGraph::add(const DeviceKernel& kernel, int64_t blocks, std::span<const uint64_t> parameters) {
  if (blocks <= 0) return;
  context_->check_blocks(kernel, blocks);
  if (recorded_ == launches_.size()) launches_.emplace_back();
  LaunchRecord& l = launches_[recorded_++];
  same_shape_ = same_shape_ && l.kernel == &kernel && l.stage == stage_;
  l.kernel = &kernel;
  l.stage = stage_;
  l.blocks = static_cast<unsigned>(blocks);
  l.parameters.assign(parameters.begin(), parameters.end());
}

void LaunchGraph::barrier() { ++stage_; }

void LaunchGraph::run() {
  same_shape_ = same_shape_ && recorded_ == launches_.size();
  launches_.resize(recorded_);
  if (!same_shape_) {
    drop_graphs();
    ran_ = false;
  }
  // A graph pays off from the second run on and for more than one launch. With SINTER_CHECK each launch is waited for.
  if (!ran_ || recorded_ < 2 || env().check) {
    for (const LaunchRecord& l : launches_) context_->launch(*l.kernel, l.blocks, l.parameters);
    ran_ = true;
    return;
  }
  context_->enter();
  const GraphInstance& graph = instance();
  context_->check(context_->driver().graph_launch(graph.exec, context_->stream()), "launching a graph of kernels");
  context_->note_launch(names_);
}

const LaunchGraph::GraphInstance& LaunchGraph::instance() {
  GraphInstance* nearest = nullptr;
  size_t fewest = launches_.size();
  for (GraphInstance& r : instances_) {
    size_t changed = 0;
    for (size_t i = 0; i < launches_.size() && changed <= fewest; ++i) changed += !(launches_[i] == r.launches[i]);
    if (changed == 0) return r;
    if (!nearest || changed < fewest) nearest = &r, fewest = changed;
  }
  // If few launches differ, their numbers changed; if many, the memory did.
  if (!nearest || (fewest > launches_.size() / 4 && instances_.size() < kGraphs)) {
    GraphInstance made;
    build(made);
    return instances_.emplace_back(std::move(made));
  }
  update(*nearest);
  return *nearest;
}

KernelNodeParams LaunchGraph::node_of(const LaunchRecord& l, std::vector<void*>& pointers) {
  pointers.clear();
  for (const uint64_t& p : l.parameters) pointers.push_back(const_cast<uint64_t*>(&p));
  return {l.kernel->function, l.blocks, 1,       1,      l.kernel->threads, 1, 1, l.kernel->shared,
          pointers.data(),    nullptr,  nullptr, nullptr};
}

void LaunchGraph::build(GraphInstance& r) {
  const DriverApi& driver = context_->driver();
  context_->check(driver.graph_create(&r.graph, 0), "making a graph of kernels");
  try {
    std::vector<GraphNodeHandle> before, now;  // the launches of the previous stage and of this one
    std::vector<void*> pointers;
    std::string names;
    for (size_t i = 0; i < launches_.size(); ++i) {
      const LaunchRecord& l = launches_[i];
      if (i && l.stage != launches_[i - 1].stage) before.swap(now), now.clear();
      const KernelNodeParams node = node_of(l, pointers);
      context_->check(
          driver.graph_add_kernel_node(&r.nodes.emplace_back(), r.graph, before.data(), before.size(), &node),
          "adding a kernel to a graph");
      now.push_back(r.nodes.back());
      if (i < kNamed) names += fmt::format("{}{}", i ? ", " : "", *l.kernel->name);
    }
    r.launches = launches_;
    names_ = std::make_shared<const std::string>(
        fmt::format("{}{} (a graph of {} kernels)", names, launches_.size() > kNamed ? ", ..." : "", launches_.size()));
    context_->check(driver.graph_instantiate_with_flags(&r.exec, r.graph, 0), "preparing a graph of kernels");
  } catch (...) {
    driver.graph_destroy(r.graph);
    throw;
  }
}

void LaunchGraph::update(GraphInstance& r) {
  std::vector<void*> pointers;
  for (size_t i = 0; i < launches_.size(); ++i) {
    if (launches_[i] == r.launches[i]) continue;
    const KernelNodeParams node = node_of(launches_[i], pointers);
    context_->check(context_->driver().graph_exec_kernel_node_set_params(r.exec, r.nodes[i], &node),
                    "updating a graph of kernels");
    r.launches[i] = launches_[i];
  }
}

void LaunchGraph::drop_graphs() noexcept {
  const DriverApi& driver = context_->driver();
  if (!instances_.empty() && context_->wait_before_destroy())
    for (const GraphInstance& r : instances_) {
      driver.graph_exec_destroy(r.exec);
      driver.graph_destroy(r.graph);  // after exec, which refers to the nodes of this graph
    }
  instances_.clear();
}

}  // namespace sinter::runtime::cuda
