// A CUDA driver of lambdas over host memory, for tests of what the runtime makes of a driver's answers: no kernel is
// interpreted, a kernel is a function of the test.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/cuda/context.h"

namespace cuda_test {

using namespace sinter::runtime::cuda;

/// What the driver has, and what was done with it. Work happens at once; addresses are those of the host.
struct FakeDriverState {
  int version = 12040, devices = 1, sm = 90;
  CudaResult init = CudaResult::Success;
  size_t memory = 64 << 20;  ///< of each device
  int shared_per_block = 227 << 10, static_shared = 0, most_threads = 1024;
  std::map<std::string, std::function<void(const std::vector<uint64_t>&, unsigned blocks)>> kernels;

  CudaResult fault = CudaResult::Success;  ///< once set, the answer of every call that waits or works
  CudaResult next_launch = CudaResult::Success;
  size_t used = 0;
  std::map<DevicePointer, size_t> allocations;
  int host_allocations = 0, streams = 0, events = 0, modules = 0, contexts = 0, graphs = 0;
  std::vector<std::string> calls;  ///< launches and what concerns graphs, in order

  /// All that exists on the devices.
  int alive() const {
    return static_cast<int>(allocations.size()) + host_allocations + streams + events + modules + contexts + graphs;
  }
};

/// Installs a fake for the length of a test.
class FakeDriver {
 public:
  FakeDriver();
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;
  FakeDriverState* operator->() { return state_.get(); }
  /// After a change of what find_driver() asks for.
  void look_again();

 private:
  std::unique_ptr<FakeDriverState> state_;
};

}  // namespace cuda_test
