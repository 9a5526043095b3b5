// Recording, comparing with what the graph knows, and the calls that tell it of the difference.
#include "runtime/cuda/launch_list.h"

#include <fmt/core.h>

#include <algorithm>

#include "runtime/cuda/device.h"
#include "runtime/env.h"

namespace sinter::runtime::cuda {
namespace {

constexpr size_t kNamed = 8;  ///< kernels that the message of a fault names

}  // namespace

LaunchList::LaunchList(std::shared_ptr<Context> context) : context_(std::move(context)) {}
LaunchList::~LaunchList() { drop_graph(); }

void LaunchList::begin() {
  recorded_ = stage_ = 0;
  same_shape_ = true;
}

void LaunchList::add(const Kernel& kernel, int64_t blocks, std::span<const uint64_t> parameters) {
  if (blocks <= 0) return;
  context_->check_blocks(kernel, blocks);
  if (recorded_ == launches_.size()) launches_.emplace_back();
  Launch& l = launches_[recorded_++];
  if (l.kernel != &kernel || l.stage != stage_) {
    l.kernel = &kernel;
    l.stage = stage_;
    same_shape_ = false;
  }
  if (l.blocks != static_cast<unsigned>(blocks) || !std::ranges::equal(l.parameters, parameters)) {
    l.blocks = static_cast<unsigned>(blocks);
    l.parameters.assign(parameters.begin(), parameters.end());
    l.changed = true;
  }
}

void LaunchList::then() { ++stage_; }

void LaunchList::run() {
  same_shape_ = same_shape_ && recorded_ == launches_.size();
  launches_.resize(recorded_);
  if (!same_shape_) {
    drop_graph();
    ran_ = false;
  }
  // A graph pays when it is run again, and for more than one launch; with SINTER_CHECK each launch is waited for.
  if (!ran_ || recorded_ < 2 || env().check) {
    for (const Launch& l : launches_) context_->launch(*l.kernel, l.blocks, l.parameters);
    ran_ = true;
    return;
  }
  context_->enter();
  if (exec_)
    update();
  else
    build();
  context_->check(context_->driver().graph_launch(exec_, context_->stream()), "launching a graph of kernels");
  context_->note_launch(names_);
}

KernelNode LaunchList::node_of(const Launch& l, std::vector<void*>& pointers) {
  pointers.clear();
  for (const uint64_t& p : l.parameters) pointers.push_back(const_cast<uint64_t*>(&p));
  return {l.kernel->function, l.blocks, 1,       1,      l.kernel->threads, 1, 1, l.kernel->shared,
          pointers.data(),    nullptr,  nullptr, nullptr};
}

void LaunchList::build() {
  const Driver& driver = context_->driver();
  Graph graph = nullptr;
  context_->check(driver.graph_create(&graph, 0), "making a graph of kernels");
  try {
    std::vector<GraphNode> before, now;  // the launches of the last stage, and of this one
    std::vector<void*> pointers;
    std::string names;
    for (size_t i = 0; i < launches_.size(); ++i) {
      Launch& l = launches_[i];
      if (i && l.stage != launches_[i - 1].stage) before.swap(now), now.clear();
      const KernelNode node = node_of(l, pointers);
      context_->check(driver.graph_add_kernel_node(&l.node, graph, before.data(), before.size(), &node),
                      "adding a kernel to a graph");
      l.changed = false;
      now.push_back(l.node);
      if (i < kNamed) names += fmt::format("{}{}", i ? ", " : "", *l.kernel->name);
    }
    names_ = std::make_shared<const std::string>(
        fmt::format("{}{} (a graph of {} kernels)", names, launches_.size() > kNamed ? ", ..." : "", launches_.size()));
    context_->check(driver.graph_instantiate_with_flags(&exec_, graph, 0), "preparing a graph of kernels");
  } catch (...) {
    driver.graph_destroy(graph);
    throw;
  }
  graph_ = graph;  // its nodes name those of the prepared one
}

void LaunchList::update() {
  std::vector<void*> pointers;
  for (Launch& l : launches_) {
    if (!l.changed) continue;
    const KernelNode node = node_of(l, pointers);
    context_->check(context_->driver().graph_exec_kernel_node_set_params(exec_, l.node, &node),
                    "updating a graph of kernels");
    l.changed = false;
  }
}

void LaunchList::drop_graph() noexcept {
  if (!exec_) return;
  const Driver& driver = context_->driver();
  if (context_->make_current()) {
    driver.stream_synchronize(context_->stream());  // it may be under way
    driver.graph_exec_destroy(exec_);
    driver.graph_destroy(graph_);
  }
  exec_ = nullptr;
  graph_ = nullptr;
}

}  // namespace sinter::runtime::cuda
