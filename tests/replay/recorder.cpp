// A program that is linked with this leaves each plan that it schedules in the folder REPLAY_RECORD, if the environment
// names one: for ./dev replay.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <unordered_set>

#include "ir/walk.h"
#include "replay/plan_text.h"

namespace {

using namespace sinter::schedule;

/// Plans of more nodes take seconds; what they are made of, smaller ones have too.
constexpr size_t kMaxNodes = 4000;

class Recorder final : public ScheduleObserver {
 public:
  explicit Recorder(std::string folder) : ScheduleObserver(false), folder_(std::move(folder)) {}

  void before_schedule(const PlanGraph& plan, Policy policy) override {
    if (sinter::ir::topological(values_of(plan)).size() > kMaxNodes) return;
    const std::string text = replay::to_text(plan, policy);
    const std::lock_guard lock(mutex_);
    if (!met_.insert(std::hash<std::string>()(text)).second) return;
    std::ofstream(folder_ + "/" + std::to_string(getpid()), std::ios::app) << text << std::flush;
  }

 private:
  const std::string folder_;
  std::mutex mutex_;
  std::unordered_set<size_t> met_;
};

[[maybe_unused]] const Recorder* const recorder =
    std::getenv("REPLAY_RECORD") ? new Recorder(std::getenv("REPLAY_RECORD")) : nullptr;

}  // namespace
