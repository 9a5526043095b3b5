// The host's part of a step that a jitted function makes: numbers that each replay computes anew, and counts.
#pragma once

#include <cstddef>

namespace sinter::tensor {

class HostStep {
 public:
  virtual ~HostStep() = default;
  /// Whether a replay may make the step. If not, the function runs.
  virtual bool fits() const = 0;
  /// Number n of the step, before advance().
  virtual double number(size_t n) const = 0;
  /// Counts the step.
  virtual void advance() = 0;
  /// Takes back the last advance().
  virtual void undo() = 0;
};

}  // namespace sinter::tensor
