// Failures on request, for tests. Failures that are rare on real machines must still be handled (SEMANTICS V6).
#pragma once

#include <functional>
#include <utility>

#include "ir/op.h"

namespace sinter::runtime {

/// Set only while no other thread uses the library.
struct FaultInjection {
  std::function<bool(ir::Op)> refuse;     ///< fails compilation of new plans that contain such an op
  int fail_at_launch = -1;                ///< fails launch n of the next plan that does not skip it; then reset to -1
  std::function<void()> while_compiling;  ///< called once, while a plan is built outside the graph's mutex
  std::function<void()> before_launch;    ///< called once, after a plan is in flight and before its first launch
  bool skip_stored_plans = false;         ///< ignore plans in the cache folder
  bool check_plans = false;  ///< recompute the key and decisions of each cached plan and compare, as with SINTER_CHECK
};

inline FaultInjection& fault_injection() {
  static FaultInjection* all = new FaultInjection;
  return *all;
}
/// Calls the hook if it is set, and clears it.
inline void fire_hook(std::function<void()>& hook) {
  if (hook) std::exchange(hook, {})();
}

}  // namespace sinter::runtime
