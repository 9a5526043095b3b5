// A replay of a jitted function: runs its plan alone, on the present tensors. Inside a GraphScope.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/exec/execution.h"
#include "tensor/jit/capture.h"
#include "tensor/jit/invariant_cache.h"

namespace sinter::tensor {

/// Looks only at the nodes that hold the tensors. `captured`, `inputs` and `sizes`, of the call, outlive this object.
class Replay {
 public:
  enum class Readiness : uint8_t { Yes, No, Later };

  Replay(const CapturedPlan& captured, std::span<const Tensor> inputs, const CallSizes& sizes)
      : captured_(captured), inputs_(inputs), sizes_(sizes) {}

  /// No if the tensors do not fit the program. Later if they may fit once a plan in flight has completed. Throws
  /// BackendError for a tensor that a failed launch has poisoned.
  Readiness ready();
  /// The results. Launches run outside the graph's mutex unless they are short. The assigned tensors get their new
  /// versions before; other threads wait for those. Kernels are skipped if they read only versions that the previous
  /// run read too: their values are kept in `cache`, which the first run makes. Throws OutOfMemory and leaves every
  /// tensor unchanged, or BackendError and poisons what it assigns.
  std::vector<Tensor> run(std::unique_ptr<InvariantCache>& cache);

 private:
  bool fits(const UsedCell& used, const Cell& cell) const;
  bool is_input(const ir::Storage* storage) const;
  InvariantCache::Versions versions() const;
  void draw();
  class InFlightReplay;

  const CapturedPlan& captured_;
  std::span<const Tensor> inputs_;
  const CallSizes& sizes_;
  std::vector<std::shared_ptr<Cell>> cells_;  ///< tensors used besides the inputs
  std::vector<std::shared_ptr<GeneratorState>> generators_;
  runtime::Bindings bindings_;
};

}  // namespace sinter::tensor
