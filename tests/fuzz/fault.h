// A deliberate fault for a scope.
#pragma once

#include "sinter/debug.h"
#include "fuzz/mutant.h"

namespace fuzz {

/// A fault that is on while this lives, with plans of its own.
class Fault {
 public:
  explicit Fault(Mutant fault) {
    sinter::debug::clear_plans();
    mutant = fault;
  }
  ~Fault() {
    mutant = Mutant::None;
    sinter::debug::clear_plans();
    sinter::debug::set_executor(sinter::debug::Executor::Compiled);
  }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
};

}  // namespace fuzz
