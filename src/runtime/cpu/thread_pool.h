// Threads that share the index range of one kernel: fork and join in a fraction of a microsecond while they are awake.
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

/// The calling thread and `threads - 1` workers, which start at the first range worth sharing, each on a CPU of its own
/// (`ThreadAffinity`), spin for a moment after each and then sleep. Any thread may call; while one range runs, the
/// ranges of other callers, and of `fn` itself, run on their caller's thread alone.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Calls fn on contiguous pieces that cover [begin, end) exactly once, each of at least `grain` elements (but for a
  /// range that is shorter). Returns when all are done: the results, or-ed. Nothing follows from how it was cut. Throws
  /// std::bad_alloc, before anything ran, when the workers cannot be set up.
  int run(int64_t begin, int64_t end, int64_t grain, Job::RangeFunction fn, void* context);

  /// The same for anything that is called as int(int64_t begin, int64_t end).
  template <class F>
  int parallel_for(int64_t begin, int64_t end, int64_t grain, F&& f) {
    using Callable = std::remove_reference_t<F>;
    return run(
        begin, end, grain, [](void* c, int64_t b, int64_t e) -> int { return (*static_cast<Callable*>(c))(b, e); },
        const_cast<void*>(static_cast<const void*>(&f)));
  }

  int threads() const { return threads_.load(std::memory_order_relaxed); }
  /// Waits for the range at work, then changes the number of threads.
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
  alignas(64) std::atomic<int64_t> finished_{0};     ///< chunks that workers have run, of all jobs
  std::atomic<int> errors_{0};                       ///< of the job at work
  alignas(64) std::atomic<uint32_t> wake_futex_{0};  ///< what workers sleep on
  std::atomic<uint32_t> sleepers_{0};
  alignas(64) std::atomic<bool> busy_{false};
  uint64_t jobs_ = 0;     ///< the rest is written by whoever is busy
  int64_t expected_ = 0;  ///< what finished_ is when all jobs are done
};

/// The process's pool, with as many threads as the environment asks for. Never destroyed; a forked child gets its own.
ThreadPool& thread_pool();

}  // namespace sinter::runtime::cpu
