// The tensor graph's mutex. Every public call takes it, and most of the functions below take it again.
#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <new>

namespace sinter::ir {

/// Recursive. For the owning thread, locking again costs one comparison and one increment.
class GraphMutex {
 public:
  void lock() {
    if (!mine()) {
      mutex_.lock();
      owner_.store(pthread_self(), std::memory_order_relaxed);
    }
    ++held_;
  }
  bool try_lock() {
    if (!mine()) {
      if (!mutex_.try_lock()) return false;
      owner_.store(pthread_self(), std::memory_order_relaxed);
    }
    ++held_;
    return true;
  }
  void unlock() {
    if (--held_) return;
    owner_.store(0, std::memory_order_relaxed);
    mutex_.unlock();
  }
  /// In the child of a fork by the owning thread: recreates the mutex, because a mutex belongs to a thread of the
  /// process that locked it. It is then held `held` times.
  void reset(int held) {
    new (&mutex_) std::mutex;
    owner_.store(0, std::memory_order_relaxed);
    held_ = 0;
    for (int i = 0; i < held; ++i) lock();
  }

 private:
  /// Only the calling thread ever writes its own id.
  bool mine() const { return owner_.load(std::memory_order_relaxed) == pthread_self(); }

  std::mutex mutex_;
  std::atomic<pthread_t> owner_{0};
  int held_ = 0;
};

}  // namespace sinter::ir
