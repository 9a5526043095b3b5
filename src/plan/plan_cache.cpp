// Lookup and bounds of the plan cache.
#include "plan/plan_cache.h"

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
  std::vector<uint64_t> used;
  for (const auto& [key, plans] : entries_)
    for (const Entry& e : plans) used.push_back(e.plan->used);
  const auto last = used.begin() + kDropped - 1;
  std::nth_element(used.begin(), last, used.end());
  size_ = 0;
  for (auto it = entries_.begin(); it != entries_.end();) {
    std::erase_if(it->second, [&](const Entry& e) { return e.plan->used <= *last; });
    size_ += it->second.size();
    it = it->second.empty() ? entries_.erase(it) : std::next(it);
  }
}

void PlanCache::clear() {
  entries_.clear();
  size_ = 0;
}

}  // namespace sinter::schedule
