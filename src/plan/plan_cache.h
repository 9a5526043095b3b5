// Plans by key, evicted in least recently used order. Guarded by the tensor graph's mutex.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "plan/plan_entry.h"
#include "plan/plan_key.h"

namespace sinter::plan {

class PlanCache {
 public:
  static constexpr size_t kCapacity = 4096;
  static constexpr size_t kDropped = 512;  ///< evicted at once, because finding the oldest scans all entries

  /// Never destroyed (SEMANTICS V7).
  static PlanCache& get();

  /// The plan for this program: same key, and equal numbers where they are not arguments; null if there is none.
  std::shared_ptr<const PlanEntry> find(const PlanKey& key);
  /// Which numbers a new plan should take as arguments: NUMs, and numbers that differ between this program and the
  /// cached plans of the same key (SEMANTICS N1).
  std::vector<uint8_t> arguments_for(const PlanKey& key) const;
  void insert(const PlanKey& key, std::vector<uint8_t> is_argument, std::shared_ptr<const PlanEntry> plan);

  /// Marks a plan as most recently used. find() does that; callers that have the plan already must.
  void touch(const PlanEntry& plan) { plan.used = ++clock_; }

  size_t size() const { return size_; }
  void clear();

 private:
  struct CachedPlan {
    std::vector<uint8_t> is_argument;
    std::vector<ir::Scalar> numbers;
    std::shared_ptr<const PlanEntry> plan;
  };
  void drop_oldest();

  std::unordered_map<runtime::Hash128, std::vector<CachedPlan>> entries_;
  size_t size_ = 0;
  uint64_t clock_ = 0;
};

}  // namespace sinter::plan
