// Threads that share the index range of one kernel. Fork and join take a fraction of a microsecond while they are
// awake.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "runtime/cpu/affinity.h"
#include "runtime/cpu/job.h"

namespace sinter::runtime::cpu {

/// The calling thread and `threads - 1` workers. The workers start with the first range worth sharing, each on a CPU of
/// its own (`ThreadAffinity`). After each range they spin for a moment and then sleep. Any thread may call. While one
/// range runs, ranges of other callers, and nested ranges of `fn`, run only on their caller's thread.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Calls fn on contiguous chunks that cover [begin, end) exactly once, each of at least `grain` elements unless the
  /// range is shorter. Returns after all of them, with their results or-ed. Results must not depend on the chunks.
  /// Throws std::bad_alloc, before anything ran, if the workers cannot be set up.
  int run(int64_t begin, int64_t end, int64_t grain, Job::RangeFunction fn, void* context);

  /// The same for any callable of type int(int64_t begin, int64_t end).
  template <class F>
  int parallel_for(int64_t begin, int64_t end, int64_t grain, F&& f) {
    using Callable = std::remove_reference_t<F>;
    return run(
        begin, end, grain, [](void* c, int64_t b, int64_t e) -> int { return (*static_cast<Callable*>(c))(b, e); },
        const_cast<void*>(static_cast<const void*>(&f)));
  }

  int threads() const { return threads_.load(std::memory_order_relaxed); }
  /// Waits for the running range, then changes the number of threads.
  void resize(int threads);

 private:
  class BusyGuard;
  void start();
  void stop();
  void worker(int index, uint64_t seen);
  bool wait_for_job(int index, uint64_t seen);
  int64_t take(const Job& job, int share);
  int64_t steal(const Job& job, int index);

  std::atomic<int> threads_;
  std::vector<std::thread> workers_;
  ThreadAffinity affinity_;
  std::unique_ptr<ChunkQueue[]> chunk_queues_;
  std::atomic<bool> stopping_{false};
  JobSeqlock latest_job_;
  alignas(64) std::atomic<int64_t> finished_{0};     ///< chunks that workers have run, over all jobs
  std::atomic<int> errors_{0};                       ///< of the running job
  alignas(64) std::atomic<uint32_t> wake_futex_{0};  ///< workers sleep on it
  std::atomic<uint32_t> sleepers_{0};
  alignas(64) std::atomic<bool> busy_{false};
  uint64_t jobs_ = 0;     ///< this and expected_ are written by the thread that set busy_
  int64_t expected_ = 0;  ///< value of finished_ when all jobs are done
};

/// The process's pool, with the number of threads that the environment sets. Never destroyed. A forked child gets its
/// own.
ThreadPool& thread_pool();

}  // namespace sinter::runtime::cpu
