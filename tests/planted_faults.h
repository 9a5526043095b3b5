// Failures on request (runtime/base/fault_injection.h) for a scope, however it is left.
#pragma once

#include <utility>

#include "runtime/base/fault_injection.h"

namespace sinter::testing {

/// PlantedFaults faults; faults->fail_at_launch = 0;
class PlantedFaults {
 public:
  PlantedFaults() = default;
  ~PlantedFaults() { runtime::fault_injection() = std::move(before_); }
  PlantedFaults(const PlantedFaults&) = delete;
  PlantedFaults& operator=(const PlantedFaults&) = delete;
  runtime::FaultInjection* operator->() const { return &runtime::fault_injection(); }

 private:
  runtime::FaultInjection before_ = runtime::fault_injection();
};

}  // namespace sinter::testing
