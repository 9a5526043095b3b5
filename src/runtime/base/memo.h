// What is found out once for each key, and stays.
#pragma once

#include <map>
#include <mutex>
#include <utility>

#include "runtime/base/fork.h"

namespace sinter::runtime {

/// Values by key, for as long as the process lives: never destroyed (SEMANTICS V7). References stay good.
template <class Key, class Value>
class Memo {
 public:
  Memo() { hold_at_fork(mutex_); }
  ~Memo() = delete;

  /// find() makes the value under no mutex, since it may take others. Two threads may find it out at the same time; the
  /// answer of the first is everybody's. fork() does not wait for find(): a child finds out anew what was not known.
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
