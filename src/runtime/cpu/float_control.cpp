// The slow path, for threads whose floating-point environment is not the default.
#include "runtime/cpu/float_control.h"

namespace sinter::runtime::cpu {

void DefaultFloatEnv::set_default() {
  std::fegetenv(&before_);
  std::fesetenv(FE_DFL_ENV);
}

}  // namespace sinter::runtime::cpu
