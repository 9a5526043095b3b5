// A deliberate fault for a scope.
#pragma once

#include "fuzz/mutant.h"
#include "runtime/base/fault_injection.h"
#include "sinter/debug.h"

namespace fuzz {

/// A fault that is on while this lives, with plans of its own.
class ScopedMutant {
 public:
  explicit ScopedMutant(Mutant fault) {
    sinter::debug::clear_plans();
    sinter::runtime::fault_injection().skip_stored_plans = true;  // those in the cache folder are of the sound library
    mutant = fault;
  }
  ~ScopedMutant() {
    mutant = Mutant::None;
    sinter::runtime::fault_injection().skip_stored_plans = false;
    sinter::debug::clear_plans();
    sinter::debug::set_executor(sinter::debug::Executor::Compiled);
  }
  ScopedMutant(const ScopedMutant&) = delete;
  ScopedMutant& operator=(const ScopedMutant&) = delete;
};

}  // namespace fuzz
