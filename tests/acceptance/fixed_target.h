// A certain machine in place of the host, so that counts of launches are the same everywhere; and no fused kernel has
// fewer parallel points than it should (parallel.h).
#pragma once

#include "parallel.h"
#include "runtime/program/host_target.h"

/// Plans inside this scope are decided at the prices of another machine, the reference machine unless one is named.
/// Only what the host must be able to run is its own: the instruction set and the compiler.
class FixedTarget {
 public:
  /// `least` as in ParallelCheck.
  explicit FixedTarget(double least = 0, const sinter::runtime::Target& machine = sinter::runtime::reference_target())
      : target_(machine), parallel_(least) {
    const sinter::runtime::Target host = sinter::runtime::host_target();
    target_.isa = host.isa;
    target_.fma = host.fma;
    target_.masks = host.masks;
    target_.dialect = host.dialect;
    sinter::runtime::set_host_target(&target_);
  }
  ~FixedTarget() { sinter::runtime::set_host_target(nullptr); }
  FixedTarget(const FixedTarget&) = delete;
  FixedTarget& operator=(const FixedTarget&) = delete;

 private:
  sinter::runtime::Target target_;
  ParallelCheck parallel_;
};

/// For programs of few elements, or few rows.
inline constexpr double kSmallPrograms = 8;
