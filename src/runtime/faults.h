// Failures on request, for tests: what a machine does rarely must still be handled (SEMANTICS V6).
#pragma once

#include <functional>

#include "uop/op.h"

namespace sinter::runtime {

/// Set only while no other thread uses the library.
struct Faults {
  std::function<bool(ir::Op)> refuse;  ///< a plan not seen before that holds such an op does not compile
  int fail_at_launch = -1;             ///< the n-th launch of the next plan fails; then it is -1 again
  bool check_plans = false;            ///< every cached plan is decided again and compared, as with SINTER_CHECK
};

inline Faults& faults() {
  static Faults* all = new Faults;
  return *all;
}

}  // namespace sinter::runtime
