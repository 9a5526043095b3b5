// Lookup and eviction.
#include "plan/plan_cache.h"

#include <algorithm>

namespace sinter::plan {

PlanCache& PlanCache::get() {
  static PlanCache* cache = new PlanCache;
  return *cache;
}

std::shared_ptr<const PlanEntry> PlanCache::find(const PlanKey& key) {
  const auto found = entries_.find(key.hash);
  if (found == entries_.end()) return nullptr;
  for (CachedPlan& e : found->second) {
    bool fits = true;
    for (size_t i = 0; i < e.numbers.size() && fits; ++i)
      fits = e.is_argument[i] || e.numbers[i] == key.numbers[i].value;
    if (!fits) continue;
    touch(*e.plan);
    return e.plan;
  }
  return nullptr;
}

std::vector<uint8_t> PlanCache::arguments_for(const PlanKey& key) const {
  auto is_argument = ir::mapped<std::vector<uint8_t>>(key.numbers, &Number::always);
  const auto found = entries_.find(key.hash);
  if (found == entries_.end()) return is_argument;
  const CachedPlan& last = found->second.back();
  for (size_t i = 0; i < is_argument.size(); ++i)
    is_argument[i] |= last.is_argument[i] | !(last.numbers[i] == key.numbers[i].value);
  return is_argument;
}

void PlanCache::insert(const PlanKey& key, std::vector<uint8_t> is_argument, std::shared_ptr<const PlanEntry> plan) {
  touch(*plan);
  CachedPlan e{std::move(is_argument), {}, std::move(plan)};
  for (const Number& n : key.numbers) e.numbers.push_back(n.value);
  entries_[key.hash].push_back(std::move(e));
  if (++size_ > kCapacity) drop_oldest();
}

void PlanCache::drop_oldest() {
  std::vector<uint64_t> used;
  for (const auto& [key, plans] : entries_)
    for (const CachedPlan& e : plans) used.push_back(e.plan->used);
  const auto last = used.begin() + kDropped - 1;
  std::nth_element(used.begin(), last, used.end());
  size_ = 0;
  for (auto it = entries_.begin(); it != entries_.end();) {
    std::erase_if(it->second, [&](const CachedPlan& e) { return e.plan->used <= *last; });
    size_ += it->second.size();
    it = it->second.empty() ? entries_.erase(it) : std::next(it);
  }
}

void PlanCache::clear() {
  entries_.clear();
  size_ = 0;
}

}  // namespace sinter::plan
