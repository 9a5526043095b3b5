// The tensor graph's mutex: taken by every public call, and again by most of what a call does.
#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <new>

namespace sinter::ir {

/// Recursive. To the thread that holds it, taking it again is a comparison and a count.
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
  /// In the child of the thread that holds it: made anew, because a mutex belongs to a thread of the process that took
  /// it. It stays taken so many times.
  void reset(int held) {
    new (&mutex_) std::mutex;
    owner_.store(0, std::memory_order_relaxed);
    held_ = 0;
    for (int i = 0; i < held; ++i) lock();
  }

 private:
  /// Nobody but this thread writes its number.
  bool mine() const { return owner_.load(std::memory_order_relaxed) == pthread_self(); }

  std::mutex mutex_;
  std::atomic<pthread_t> owner_{0};
  int held_ = 0;
};

}  // namespace sinter::ir
