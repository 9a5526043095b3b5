// Memoization for the lifetime of the process.
#pragma once

#include <map>
#include <mutex>
#include <utility>

#include "runtime/base/fork.h"

namespace sinter::runtime {

/// Values by key. Never destroyed (SEMANTICS V7). References stay valid.
template <class Key, class Value>
class Memo {
 public:
  Memo() { hold_at_fork(mutex_); }
  ~Memo() = delete;

  /// Calls find() without holding the mutex, since find() may take other mutexes. Two threads may compute the same
  /// value; the first result is kept for all. fork() does not wait for find(): a child computes the missing value
  /// again.
  template <class Find>
  const Value& get(const Key& key, Find&& find) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = known_.find(key); known != known_.end()) return known->second;
    }
    Value value = find();
    const std::lock_guard lock(mutex_);
    return known_.try_emplace(key, std::move(value)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<Key, Value> known_;
};

}  // namespace sinter::runtime
