// A deliberate fault for a scope.
#pragma once

#include "sinter/debug.h"
#include "uop/mutant.h"

namespace fuzz {

/// A fault that is on while this lives, with plans of its own.
class Fault {
 public:
  explicit Fault(sinter::ir::Mutant mutant) {
    sinter::debug::clear_plans();
    sinter::ir::mutant = mutant;
  }
  ~Fault() {
    sinter::ir::mutant = sinter::ir::Mutant::None;
    sinter::debug::clear_plans();
    sinter::debug::set_executor(sinter::debug::Executor::Compiled);
  }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
};

}  // namespace fuzz
