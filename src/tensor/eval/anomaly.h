// debug::detect_anomaly: where a NaN or an infinity in the results of a plan comes from.
#pragma once

#include <memory>

#include "plan/plan_lookup.h"

namespace sinter::tensor {

/// One plan. Made before it runs, inside a GraphScope: copies its program, and what it will overwrite.
class AnomalySearch {
 public:
  explicit AnomalySearch(const plan::PlanInstance& instance);
  ~AnomalySearch();
  AnomalySearch(const AnomalySearch&) = delete;
  AnomalySearch& operator=(const AnomalySearch&) = delete;
  /// After the run, inside a GraphScope. Throws AnomalyError for a NaN or an infinity that appeared in it.
  void check() const;

 private:
  struct Copy;
  const std::unique_ptr<Copy> copy_;
};

}  // namespace sinter::tensor
