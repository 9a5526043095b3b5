// A later call of a jitted function: its plan alone, on the tensors of now. Inside a GraphScope.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plan/executable.h"
#include "tensor/jit/capture.h"
#include "tensor/jit/invariant_cache.h"

namespace sinter::tensor {

/// No node is looked at but those that hold the tensors. `captured` and `inputs` outlive it.
class Replay {
 public:
  enum class Readiness : uint8_t { Yes, No, Later };

  Replay(const CapturedPlan& captured, std::span<const Tensor> inputs) : captured_(captured), inputs_(inputs) {}

  /// No if the tensors are not as the program needs them, Later if they may be when a plan in flight has completed.
  /// Throws BackendError for one that a failed launch has left.
  Readiness ready();
  /// The results. The launches run outside the graph's mutex, unless they are short; the tensors that the program
  /// assigns have their new versions before, which others wait for. Kernels that read nothing but versions of tensors
  /// that the run before read too are not launched: what they gave is kept in `cache`, which the first run makes.
  /// Throws OutOfMemory, and every tensor is as it was; or BackendError, and what it assigns is poisoned.
  std::vector<Tensor> run(std::unique_ptr<InvariantCache>& cache);

 private:
  static bool fits(const UsedCell& used, const Cell& cell);
  bool is_input(const ir::Storage* storage) const;
  InvariantCache::Versions versions() const;
  void draw();
  class InFlightReplay;

  const CapturedPlan& captured_;
  std::span<const Tensor> inputs_;
  std::vector<std::shared_ptr<Cell>> cells_;  ///< those that it uses beside the inputs
  std::vector<std::shared_ptr<GeneratorState>> generators_;
  plan::Bindings bindings_;
};

}  // namespace sinter::tensor
