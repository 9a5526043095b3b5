// Which launches run side by side: the rule, and the order that the graph of a network's step promises.
#include "catch.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/cuda/context.h"
#include "runtime/cuda/simulator.h"
#include "runtime/exec/concurrent_launches.h"
#include "schedule/schedule.h"
#include "sinter/sinter.h"

using namespace sinter;
using namespace sinter::runtime::cuda;

namespace {

constexpr int kMultiprocessors = 132;

/// A graph's nodes as the driver was told of them.
struct Node {
  std::string kernel;
  int64_t blocks;
  std::vector<size_t> after;  ///< numbers of nodes
};

/// The simulated driver, which writes down graphs and runs no kernel.
struct Recorded {
  std::map<FunctionHandle, std::string> names;
  std::map<GraphNodeHandle, size_t> numbers;
  std::vector<Node> nodes;  ///< of the last graph

  static Recorded& get() {
    static Recorded recorded;
    return recorded;
  }
  static const DriverApi& driver() {
    static const DriverApi table = [] {
      DriverApi t = simulated_driver();
      t.module_get_function = [](FunctionHandle* function, ModuleHandle module, const char* name) {
        const CudaResult result = simulated_driver().module_get_function(function, module, name);
        get().names[*function] = name;
        return result;
      };
      t.launch_kernel = [](FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           StreamHandle, void**, void**) { return CudaResult::Success; };
      t.graph_launch = [](GraphExecHandle, StreamHandle) { return CudaResult::Success; };
      t.graph_create = [](GraphHandle* graph, unsigned flags) {
        get().numbers.clear(), get().nodes.clear();
        return simulated_driver().graph_create(graph, flags);
      };
      t.graph_add_kernel_node = [](GraphNodeHandle* node, GraphHandle graph, const GraphNodeHandle* before,
                                   size_t count, const KernelNodeParams* parameters) {
        const CudaResult result = simulated_driver().graph_add_kernel_node(node, graph, before, count, parameters);
        Recorded& r = get();
        r.numbers[*node] = r.nodes.size();
        r.nodes.push_back({r.names.at(parameters->function), parameters->grid_x, {}});
        for (size_t i = 0; i < count; ++i) r.nodes.back().after.push_back(r.numbers.at(before[i]));
        return result;
      };
      return t;
    }();
    return table;
  }
};

/// That driver for the length of a test.
struct RecordingGpu {
  RecordingGpu() {
    inject_driver(&Recorded::driver());
    set_default_device(Device::cuda());
  }
  ~RecordingGpu() {
    set_default_device(before);
    debug::clear_plans();
    forget_devices();
    inject_driver(nullptr);
  }
  const Device before = default_device();
};

/// How much arithmetic a launch of a kernel does, by the beginning of its name: of several the most.
class Flops final : public schedule::ScheduleObserver {
 public:
  void after_schedule(const schedule::PlanGraph&, const schedule::Partition&, const schedule::KernelSchedule& made,
                      schedule::Policy) override {
    for (size_t k = 0; k < made.kernels.size(); ++k) {
      double& flops = of_[made.kernels[k].name];
      flops = std::max(flops, made.plan.work[k].flops.at({}));
    }
    for (const int kernels : made.plan.launches) most_together = std::max(most_together, kernels);
  }
  double of(const std::string& name) const {
    const size_t end = name.rfind('_');
    const auto found = of_.find(name.substr(0, end));
    return found == of_.end() ? 0 : found->second;
  }
  int most_together = 0;  ///< kernels of one launch

 private:
  std::map<std::string, double> of_;
};

/// ns below which no multiprocessor of an H100 does that much, where each block is on one.
double least_time(double flops, int64_t blocks) {
  constexpr double kPerNs = 2 * 128 * 1.98;
  return flops / (kPerNs * static_cast<double>(std::min<int64_t>(blocks, kMultiprocessors)));
}

struct ConvNet {
  nn::Conv2d c1{1, 32, 5}, c2{32, 32, 5}, c3{32, 64, 3}, c4{64, 64, 3};
  nn::Linear out{576, 10};
  SINTER_MODULE(c1, c2, c3, c4, out)
  Tensor operator()(const Tensor& x) const {
    const Tensor h = max_pool2d(relu(c2(relu(c1(x)))), 2);
    return out(max_pool2d(relu(c4(relu(c3(h)))), 2).flatten(1));
  }
};

std::vector<LaunchGroup> groups_of(const std::vector<LaunchEstimate>& launches) {
  return group_launches(launches, kMultiprocessors);
}

}  // namespace

TEST_CASE("the time of a launch alone grows where multiprocessors stand idle", "[cuda][side-by-side]") {
  CHECK(time_alone({132, 256, 1000, 0}, kMultiprocessors) == Approx(1000));
  CHECK(time_alone({1320, 256, 1000, 0}, kMultiprocessors) == Approx(1000));
  CHECK(time_alone({33, 256, 1000, 0}, kMultiprocessors) == Approx(4000));
  CHECK(time_alone({132, 32, 1000, 0}, kMultiprocessors) == Approx(4000));
  CHECK(time_alone({528, 32, 1000, 0}, kMultiprocessors) == Approx(1000));
  CHECK(time_alone({132, 256, 0, 1e9}, kMultiprocessors) > 100 * time_alone({132, 256, 0, 1e6}, kMultiprocessors));
  CHECK(time_alone({0, 256, 1000, 0}, kMultiprocessors) == 0);
}

TEST_CASE("launches run side by side where each block has a multiprocessor, or where all are short",
          "[cuda][side-by-side]") {
  const LaunchEstimate full{800, 256, 1e6, 0}, few{25, 256, 1e5, 0}, more{100, 256, 1e5, 0}, brief{800, 256, 100, 0},
      brief_few{4, 256, 10, 0};
  CHECK(groups_of({}).empty());
  CHECK(groups_of({full}) == std::vector<LaunchGroup>{{0}});
  // What leaves most of the machine empty for long is alone, or among its like.
  CHECK(groups_of({few, full}) == std::vector<LaunchGroup>{{0}, {1}});
  CHECK(groups_of({full, few}) == std::vector<LaunchGroup>{{0}, {1}});
  CHECK(groups_of({few, few, more}) == std::vector<LaunchGroup>{{0, 1}, {2}});
  CHECK(groups_of({few, more}) == std::vector<LaunchGroup>{{0, 1}});
  CHECK(groups_of({full, full}) == std::vector<LaunchGroup>{{0}, {1}});
  // What is short is over before it is in the way of its like, however many there are.
  CHECK(groups_of(std::vector<LaunchEstimate>(200, brief)).size() == 1);
  CHECK(groups_of({brief, few, brief, full, brief_few}) == std::vector<LaunchGroup>{{0, 2, 4}, {1}, {3}});
  CHECK(groups_of({brief_few, few}) == std::vector<LaunchGroup>{{0, 1}});
  // One block and much work are not short.
  CHECK(groups_of({{1, 256, 100, 0}, brief, brief}) == std::vector<LaunchGroup>{{1, 2}, {0}});
  CHECK(groups_of({{1, 256, 0, 1e6}, brief, brief}) == std::vector<LaunchGroup>{{1, 2}, {0}});
}

TEST_CASE("in a network's step nothing that leaves most of a GPU empty for long runs beside what fills it",
          "[cuda][side-by-side]") {
  const RecordingGpu gpu;
  Flops flops;
  int side_by_side = 0, full = 0;
  for (const int64_t batch : {128, 4}) {  // kernels that fill the machine, and kernels that do not
    ConvNet model;
    optim::Adam optimizer(nn::parameters(model));
    const Tensor x = zeros({batch, 1, 28, 28}).contiguous().realize(), y = zeros({batch}, int64).contiguous().realize();
    for (int i = 0; i < 3; ++i) {
      const Tensor loss = cross_entropy(model(x), y);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    const std::vector<Node>& nodes = Recorded::get().nodes;
    REQUIRE(nodes.size() > 10);
    std::vector<std::set<size_t>> before(nodes.size());  // all that a node waits for
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (size_t b : nodes[i].after) {
        before[i].insert(b);
        before[i].insert(before[b].begin(), before[b].end());
      }
      full += nodes[i].blocks >= kMultiprocessors;
      for (size_t j = 0; j < i; ++j) {
        if (before[i].contains(j)) continue;
        ++side_by_side;
        for (const auto& [one, other] : {std::pair{i, j}, std::pair{j, i}}) {
          INFO(nodes[one].kernel << " of " << nodes[one].blocks << " blocks beside " << nodes[other].kernel << " of "
                                 << nodes[other].blocks);
          const bool is_long = least_time(flops.of(nodes[one].kernel), nodes[one].blocks) > 5000;
          CHECK_FALSE(
              (is_long && nodes[one].blocks <= kMultiprocessors / 2 && nodes[other].blocks >= kMultiprocessors));
        }
      }
    }
  }
  CHECK(flops.most_together > 2);
  CHECK(side_by_side > 0);
  CHECK(full > 0);
}
