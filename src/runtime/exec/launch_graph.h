// A plan's launches, enqueued as one CUDA graph instead of one driver call each.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/cuda/driver.h"
#include "runtime/cuda/image.h"

namespace sinter::runtime::cuda {

class Context;

/// Launches in order, recorded again for each run:
///
///     list.begin();
///     list.add(kernel, blocks, parameters);   // independent of each other until
///     list.barrier();                            // later launches wait for all earlier ones
///     list.run();
///
/// The first run launches them one by one. From the second run on they are a graph. A few graphs are kept, because
/// memory addresses recur. A graph with the run's addresses, numbers and sizes is launched as is; one that differs in a
/// few launches is updated. Different kernels, or another order, start over. One thread at a time.
class LaunchGraph {
 public:
  explicit LaunchGraph(std::shared_ptr<Context> context);
  ~LaunchGraph();
  LaunchGraph(const LaunchGraph&) = delete;
  LaunchGraph& operator=(const LaunchGraph&) = delete;

  void begin();
  /// The parameters are 8 bytes each: addresses, then numbers. With zero blocks nothing is added. The kernel must
  /// outlive the list.
  void add(const DeviceKernel& kernel, int64_t blocks, std::span<const uint64_t> parameters);
  void barrier();
  /// Throws BackendError; see Context.
  void run();

  /// Words that were 0 when they were made and are changed by the launches alone: where blocks count, for kernels that
  /// leave 0 again. The address stays the same, unless more are asked for than ever before.
  DevicePointer tickets(size_t words);

  size_t size() const { return recorded_; }  ///< recorded launches
  size_t graphs() const { return instances_.size(); }

 private:
  struct LaunchRecord {
    const DeviceKernel* kernel = nullptr;
    unsigned blocks = 0;
    size_t stage = 0;  ///< number of barriers before it
    std::vector<uint64_t> parameters;
    bool operator==(const LaunchRecord&) const = default;
  };
  /// A graph and its launches.
  struct GraphInstance {
    std::vector<LaunchRecord> launches;
    std::vector<GraphNodeHandle> nodes;
    GraphHandle graph = nullptr;
    GraphExecHandle exec = nullptr;
  };
  static KernelNodeParams node_of(const LaunchRecord& launch, std::vector<void*>& pointers);
  /// The graph for the recorded launches: an existing one, updated where needed, or a new one.
  const GraphInstance& instance();
  void build(GraphInstance& instance);
  void update(GraphInstance& instance);
  void drop_graphs() noexcept;

  std::shared_ptr<Context> context_;
  std::vector<LaunchRecord> launches_;
  size_t recorded_ = 0, stage_ = 0;
  bool same_shape_ = false;  ///< kernels and order equal those of the previous run
  bool ran_ = false;
  std::vector<GraphInstance> instances_;
  std::shared_ptr<const std::string> names_;
  DevicePointer tickets_ = 0;  ///< null before the first call
  size_t ticket_words_ = 0;
};

}  // namespace sinter::runtime::cuda
