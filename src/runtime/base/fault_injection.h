// Failures on request, for tests: what a machine does rarely must still be handled (SEMANTICS V6).
#pragma once

#include <functional>
#include <utility>

#include "ir/op.h"

namespace sinter::runtime {

/// Set only while no other thread uses the library.
struct FaultInjection {
  std::function<bool(ir::Op)> refuse;  ///< a plan not seen before that holds such an op does not compile
  int fail_at_launch = -1;  ///< the next n-th launch of a plan that is not left out fails; then it is -1 again
  std::function<void()> while_compiling;  ///< called once, while a plan is built outside the graph's mutex
  std::function<void()> before_launch;    ///< called once, when a plan is in flight and before its first launch
  bool skip_stored_plans = false;         ///< plans in the cache folder are not used
  bool check_plans = false;  ///< every cached plan is keyed and decided again and compared, as with SINTER_CHECK
};

inline FaultInjection& fault_injection() {
  static FaultInjection* all = new FaultInjection;
  return *all;
}
/// Calls a hook, if there is one, for the last time.
inline void fire_hook(std::function<void()>& hook) {
  if (hook) std::exchange(hook, {})();
}

}  // namespace sinter::runtime
