// Which of the scheduler's rarer forms random programs met: what no plan has is tested by no random program.
#pragma once

#include <map>
#include <string>

#include "schedule/schedule.h"

namespace fuzz {

/// Of plans for GPUs with tensor cores.
inline constexpr const char* kTensorCoreForm = "sum in steps of tensor cores";

/// Counts the fused plans that are decided while it lives.
class PlanCoverage final : public sinter::schedule::ScheduleObserver {
 public:
  void after_schedule(const sinter::schedule::PlanGraph& plan, const sinter::schedule::Partition& cut,
                      const sinter::schedule::KernelSchedule& made, sinter::schedule::Policy policy) override;

  /// A line per form: how many plans have it.
  std::string table() const;
  /// The forms that fewer than `least` plans have, a line each.
  std::string rare(int least) const;
  /// How many plans have the form.
  int count(const char* form) const;

 private:
  std::map<std::string, int> plans_;
};

}  // namespace fuzz
