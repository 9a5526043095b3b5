// A deliberate fault for a scope.
#pragma once

#include "fuzz/mutant.h"
#include "planted_faults.h"
#include "sinter/debug.h"

namespace fuzz {

/// A fault that is on while this lives, with plans of its own.
class ScopedMutant {
 public:
  explicit ScopedMutant(Mutant fault) {
    sinter::debug::clear_plans();
    faults_->skip_stored_plans = true;  // those in the cache folder are of the sound library
    mutant = fault;
  }
  ~ScopedMutant() {
    mutant = Mutant::None;
    sinter::debug::clear_plans();
    sinter::debug::set_executor(sinter::debug::Executor::Compiled);
  }
  ScopedMutant(const ScopedMutant&) = delete;
  ScopedMutant& operator=(const ScopedMutant&) = delete;

 private:
  const sinter::testing::PlantedFaults faults_;
};

}  // namespace fuzz
