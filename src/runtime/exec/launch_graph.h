// The launches of a plan, put on the stream as one: what cost a call each is a graph that the driver knows already.
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

/// Launches in order, recorded anew for each run:
///
///     list.begin();
///     list.add(kernel, blocks, parameters);   // independent of one another until
///     list.barrier();                            // what follows waits for what was added before
///     list.run();
///
/// The first run launches them one by one; from the second on they are a graph. A few graphs are kept, because memory
/// comes back in turns: one whose addresses, numbers and sizes are those of the run is launched as it is, one that
/// differs in a few launches is told of them. Other kernels, or another order, begin anew. One thread at a time.
class LaunchGraph {
 public:
  explicit LaunchGraph(std::shared_ptr<Context> context);
  ~LaunchGraph();
  LaunchGraph(const LaunchGraph&) = delete;
  LaunchGraph& operator=(const LaunchGraph&) = delete;

  void begin();
  /// The parameters are 8 bytes each: addresses, then numbers. No blocks: nothing is added. The kernel must outlive the
  /// list.
  void add(const DeviceKernel& kernel, int64_t blocks, std::span<const uint64_t> parameters);
  void barrier();
  /// Throws BackendError; see Context.
  void run();

  size_t size() const { return recorded_; }  ///< launches
  size_t graphs() const { return instances_.size(); }

 private:
  struct LaunchRecord {
    const DeviceKernel* kernel = nullptr;
    unsigned blocks = 0;
    size_t stage = 0;  ///< number of barrier() before it
    std::vector<uint64_t> parameters;
    bool operator==(const LaunchRecord&) const = default;
  };
  /// A graph, and the launches that it holds.
  struct GraphInstance {
    std::vector<LaunchRecord> launches;
    std::vector<GraphNodeHandle> nodes;
    GraphHandle graph = nullptr;
    GraphExecHandle exec = nullptr;
  };
  static KernelNodeParams node_of(const LaunchRecord& launch, std::vector<void*>& pointers);
  /// A graph of the recorded launches: one that is kept, changed where it must, or a new one.
  const GraphInstance& instance();
  void build(GraphInstance& instance);
  void update(GraphInstance& instance);
  void drop_graphs() noexcept;

  std::shared_ptr<Context> context_;
  std::vector<LaunchRecord> launches_;
  size_t recorded_ = 0, stage_ = 0;
  bool same_shape_ = false;  ///< kernels and order are those of the run before
  bool ran_ = false;
  std::vector<GraphInstance> instances_;
  std::shared_ptr<const std::string> names_;
};

}  // namespace sinter::runtime::cuda
