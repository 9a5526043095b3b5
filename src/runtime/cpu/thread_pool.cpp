// Workers that arrive in time take chunks of the job, and the caller waits only for the chunks that were taken. A late
// worker finds none, and a sleeping one only fails to help.
#include "runtime/cpu/thread_pool.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>

#include "runtime/base/env.h"
#include "runtime/base/fork.h"
#include "runtime/base/system_limits.h"
#include "runtime/cpu/start_threads.h"

namespace sinter::runtime::cpu {
namespace {

constexpr int64_t kChunksPerThread = 4;
// Longer than the host needs between two kernels of a plan. A futex wake costs about 4 us.
constexpr std::chrono::microseconds kSpin{50};

void futex(std::atomic<uint32_t>& word, int operation, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

void cpu_relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Requests ownership of the line before the coming write. No effect if this core already owns it.
void prefetch_for_write(const void* line) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0"
               :
               : "m"(*static_cast<const char*>(line)));  // __builtin_prefetch would only prefetch for
                                                         // reading
#else
  __builtin_prefetch(line, 1);
#endif
}

/// Spins until done() or a timeout. Returns whether it is done.
template <class Done>
bool spin_until(Done done) {
  using Clock = std::chrono::steady_clock;
  const auto soon = [&] {
    for (int i = 0; i < 64; ++i) {
      if (done()) return true;
      cpu_relax();
    }
    return false;
  };
  if (soon()) return true;  // reading the clock takes longer
  for (const auto end = Clock::now() + kSpin; Clock::now() < end;)
    if (soon()) return true;
  return false;
}

}  // namespace

ThreadPool::ThreadPool(int threads) : threads_(std::max(threads, 1)) {}
ThreadPool::~ThreadPool() { stop(); }

/// Releases the pool. Construct it only after setting busy_.
class ThreadPool::BusyGuard {
 public:
  explicit BusyGuard(ThreadPool& pool) : pool_(pool) {}
  ~BusyGuard() { pool_.busy_.store(false, std::memory_order_release); }
  BusyGuard(const BusyGuard&) = delete;
  BusyGuard& operator=(const BusyGuard&) = delete;

 private:
  ThreadPool& pool_;
};

void ThreadPool::start() {
  chunk_queues_ = std::make_unique<ChunkQueue[]>(static_cast<size_t>(threads()));
  try {
    start_threads(workers_, threads() - 1, [this, seen = jobs_](int i) { worker(i + 1, seen); });
  } catch (...) {
    chunk_queues_.reset();
    throw;
  }
  affinity_.pin_workers(workers_);
}

void ThreadPool::stop() {
  stopping_.store(true);
  wake_futex_.fetch_add(1);
  futex(wake_futex_, FUTEX_WAKE, INT_MAX);
  for (std::thread& w : workers_) w.join();
  workers_.clear();
  chunk_queues_.reset();
  stopping_.store(false);
}

void ThreadPool::resize(int threads) {
  while (busy_.exchange(true, std::memory_order_acquire)) sched_yield();
  const BusyGuard busy(*this);
  stop();
  threads_.store(std::max(threads, 1));
}

int ThreadPool::run(int64_t begin, int64_t end, int64_t grain, Job::RangeFunction fn, void* context) {
  if (begin >= end) return 0;
  const int64_t size = end - begin, most = size / std::max<int64_t>(grain, 1);
  if (most < 2 || threads() == 1 || busy_.exchange(true, std::memory_order_acquire)) return fn(context, begin, end);
  const BusyGuard busy(*this);
  if (!chunk_queues_) start();
  prefetch_for_write(&latest_job_), prefetch_for_write(&chunk_queues_[0]);  // both at once
  affinity_.avoid_caller_cpu(workers_);
  const int64_t chunks = std::min({most, threads() * kChunksPerThread, ChunkQueue::kMaxChunks});
  const Job job{++jobs_, fn, context, begin, size, chunks};
  latest_job_.post(job);
  if (sleepers_.load()) {
    wake_futex_.fetch_add(1);
    futex(wake_futex_, FUTEX_WAKE, INT_MAX);
  }
  expected_ += job.chunks;
  expected_ -= take(job, 0);
  expected_ -= steal(job, 0);
  const auto finished = [this] { return finished_.load(std::memory_order_acquire) == expected_; };
  while (!spin_until(finished)) sched_yield();  // a worker lost its CPU: yield ours
  const int errors = errors_.load(std::memory_order_relaxed);
  if (errors) errors_.store(0, std::memory_order_relaxed);
  return errors;
}

/// Runs the remaining chunks of a share and returns their number. 0 if the job is over.
int64_t ThreadPool::take(const Job& job, int share) {
  const int64_t first = job.chunks * share / threads(), end = job.chunks * (share + 1) / threads();
  int64_t done = 0;
  int errors = 0;
  for (int64_t chunk; (chunk = chunk_queues_[share].take(job.number, first, end)) >= 0; ++done)
    errors |= job.fn(job.context, job.edge(chunk), job.edge(chunk + 1));
  if (errors) errors_.fetch_or(errors, std::memory_order_relaxed);
  return done;
}

/// The same for all shares but the thread's own.
int64_t ThreadPool::steal(const Job& job, int index) {
  int64_t done = 0;
  for (int i = 1; i < threads(); ++i) done += take(job, (index + i) % threads());
  return done;
}

/// Returns false if the pool stops. A worker announces that it will sleep before it checks once more, and post() is
/// followed by a check for sleepers. So at least one of the two sees the other.
bool ThreadPool::wait_for_job(int index, uint64_t seen) {
  const auto woken = [&] {
    prefetch_for_write(&chunk_queues_[index]);  // other threads have read it since
    return latest_job_.number() > seen || stopping_.load();
  };
  while (!spin_until(woken)) {
    const uint32_t bell = wake_futex_.load();
    sleepers_.fetch_add(1);
    if (!woken()) futex(wake_futex_, FUTEX_WAIT, bell);
    sleepers_.fetch_sub(1);
  }
  return !stopping_.load();
}

void ThreadPool::worker(int index, uint64_t seen) {
  Job job;
  while (wait_for_job(index, seen)) {
    if (!latest_job_.read(job)) continue;  // the next one is being written
    seen = job.number;
    // Report finished chunks before stealing, since stealing has to wait for cache lines.
    if (const int64_t done = take(job, index)) finished_.fetch_add(done, std::memory_order_release);
    if (const int64_t done = steal(job, index)) finished_.fetch_add(done, std::memory_order_release);
  }
}

namespace {

std::atomic<ThreadPool*> process_pool{nullptr};

// The child has only the thread that forked. It abandons the parent's pool.
void forget_pool() { process_pool.store(nullptr); }

}  // namespace

ThreadPool& thread_pool() {
  static const int cpus = usable_cpus();
  static const bool once = (call_in_child(forget_pool), true);
  (void)once;
  const int wanted = env().threads ? env().threads : cpus;
  ThreadPool* found = process_pool.load();
  if (!found) {
    auto made = std::make_unique<ThreadPool>(wanted);
    if (process_pool.compare_exchange_strong(found, made.get())) found = made.release();
  }
  if (found->threads() != wanted) found->resize(wanted);
  return *found;
}

}  // namespace sinter::runtime::cpu
