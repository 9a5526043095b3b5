// Lookup and bounds of the plan cache.
#include "schedule/plan_cache.h"

#include <algorithm>

namespace sinter::schedule {

PlanCache& PlanCache::get() {
  static PlanCache* cache = new PlanCache;
  return *cache;
}

std::shared_ptr<const Executable> PlanCache::find(const Canonical& program) {
  const auto found = entries_.find(program.key);
  if (found == entries_.end()) return nullptr;
  for (Entry& e : found->second) {
    bool fits = true;
    for (size_t i = 0; i < e.numbers.size() && fits; ++i)
      fits = e.lifted[i] || e.numbers[i] == program.numbers[i].value;
    if (!fits) continue;
    touch(*e.plan);
    return e.plan;
  }
  return nullptr;
}

std::vector<uint8_t> PlanCache::lifted_for(const Canonical& program) const {
  std::vector<uint8_t> lifted;
  for (const Number& n : program.numbers) lifted.push_back(n.always);
  const auto found = entries_.find(program.key);
  if (found == entries_.end()) return lifted;
  const Entry& last = found->second.back();
  for (size_t i = 0; i < lifted.size(); ++i)
    lifted[i] |= last.lifted[i] | !(last.numbers[i] == program.numbers[i].value);
  return lifted;
}

void PlanCache::insert(const Canonical& program, std::vector<uint8_t> lifted, std::shared_ptr<const Executable> plan) {
  touch(*plan);
  Entry e{std::move(lifted), {}, std::move(plan)};
  for (const Number& n : program.numbers) e.numbers.push_back(n.value);
  entries_[program.key].push_back(std::move(e));
  if (++size_ > kCapacity) drop_oldest();
}

void PlanCache::drop_oldest() {
  auto oldest = entries_.begin();
  size_t at = 0;
  uint64_t least = clock_ + 1;
  for (auto it = entries_.begin(); it != entries_.end(); ++it)
    for (size_t i = 0; i < it->second.size(); ++i)
      if (it->second[i].plan->used < least) {
        least = it->second[i].plan->used;
        oldest = it;
        at = i;
      }
  oldest->second.erase(oldest->second.begin() + static_cast<std::ptrdiff_t>(at));
  if (oldest->second.empty()) entries_.erase(oldest);
  --size_;
}

void PlanCache::clear() {
  entries_.clear();
  size_ = 0;
}

}  // namespace sinter::schedule
