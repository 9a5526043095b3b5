// A deliberate fault for a scope.
#pragma once

#include "fuzz/mutant.h"
#include "runtime/base/fault_injection.h"
#include "sinter/debug.h"

namespace fuzz {

/// A fault that is on while this lives, with plans of its own.
class Fault {
 public:
  explicit Fault(Mutant fault) {
    sinter::debug::clear_plans();
    sinter::runtime::faults().decide_anew = true;  // those in the cache folder are of the sound library
    mutant = fault;
  }
  ~Fault() {
    mutant = Mutant::None;
    sinter::runtime::faults().decide_anew = false;
    sinter::debug::clear_plans();
    sinter::debug::set_executor(sinter::debug::Executor::Compiled);
  }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
};

}  // namespace fuzz
