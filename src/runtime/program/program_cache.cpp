// Programs by key. The number of unused ones is bounded.
#include "runtime/program/program_cache.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/base/fork.h"

namespace sinter::runtime {
namespace {

constexpr size_t kMaxUnused = 1024;

class ProgramCache {
 public:
  ProgramCache() { hold_at_fork(mutex_); }

  std::shared_ptr<const Program> find(const Hash128& key) {
    std::lock_guard lock(mutex_);
    const auto found = programs_.find(key);
    if (found == programs_.end()) return nullptr;
    found->second.used = ++clock_;
    return found->second.program;
  }

  std::shared_ptr<const Program> intern(std::shared_ptr<const Program> program) {
    std::vector<std::shared_ptr<const Program>> dropped;  // freed after the lock is released
    std::lock_guard lock(mutex_);
    CacheEntry& entry = programs_[program->key()];
    if (!entry.program) entry.program = std::move(program);
    entry.used = ++clock_;
    auto result = entry.program;
    if (programs_.size() >= next_sweep_) sweep(dropped);
    return result;
  }

  size_t size() {
    std::lock_guard lock(mutex_);
    return programs_.size();
  }

  void clear() {
    std::unordered_map<Hash128, CacheEntry> dropped;
    std::lock_guard lock(mutex_);
    dropped.swap(programs_);
    next_sweep_ = kMaxUnused;
  }

 private:
  struct CacheEntry {
    std::shared_ptr<const Program> program;
    uint64_t used = 0;
  };

  void sweep(std::vector<std::shared_ptr<const Program>>& dropped) {
    std::vector<std::pair<uint64_t, Hash128>> unused;
    for (const auto& [key, entry] : programs_)
      if (entry.program.use_count() == 1) unused.emplace_back(entry.used, key);
    std::ranges::sort(unused);
    for (size_t i = 0; i + kMaxUnused / 2 < unused.size(); ++i) {
      auto found = programs_.find(unused[i].second);
      dropped.push_back(std::move(found->second.program));
      programs_.erase(found);
    }
    next_sweep_ = programs_.size() + kMaxUnused / 2;
  }

  std::mutex mutex_;
  std::unordered_map<Hash128, CacheEntry> programs_;
  uint64_t clock_ = 0;
  size_t next_sweep_ = kMaxUnused;
};

ProgramCache& cache() {
  static auto* all = new ProgramCache;  // never destroyed
  return *all;
}

}  // namespace

std::shared_ptr<const Program> find_program(const Hash128& key) { return cache().find(key); }
std::shared_ptr<const Program> intern_program(std::shared_ptr<const Program> program) {
  return cache().intern(std::move(program));
}
size_t cached_program_count() { return cache().size(); }
void forget_programs() { cache().clear(); }

}  // namespace sinter::runtime
