// A later call of a jitted function: its plan alone, on the tensors of now. Inside a GraphScope.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "schedule/run/executable.h"
#include "tensor/capture.h"
#include "tensor/repeated.h"

namespace sinter::tensor {

/// No node is looked at but those that hold the tensors. `replay` and `inputs` outlive it.
class Rerun {
 public:
  Rerun(const Replay& replay, std::span<const Tensor> inputs) : replay_(replay), inputs_(inputs) {}

  /// False if the tensors are not as the program needs them. Throws BackendError for one that a failed launch has left.
  bool ready();
  /// The results. Kernels that read nothing but versions of tensors that the run before read too are not launched: what
  /// they gave is kept in `repeated`, which the first run makes. Throws OutOfMemory, and every tensor is as it was; or
  /// BackendError, and what it writes in place is poisoned.
  std::vector<Tensor> run(std::unique_ptr<Repeated>& repeated);

 private:
  static bool fits(const UsedCell& used, const Cell& cell);
  bool is_input(const ir::Storage* storage) const;
  Repeated::Versions versions() const;
  void draw();
  void poison(const std::string& text);
  std::shared_ptr<ir::Notice> notice(schedule::Execution& run, bool index_error) const;
  std::vector<Tensor> land(schedule::Execution& run, bool index_error);
  ir::UOp value(const ReplayTarget& target, ir::Storage* storage) const;

  const Replay& replay_;
  std::span<const Tensor> inputs_;
  std::vector<std::shared_ptr<Cell>> cells_;  ///< those that it uses beside the inputs
  std::vector<std::shared_ptr<GeneratorState>> generators_;
  schedule::Bindings bindings_;
};

}  // namespace sinter::tensor
