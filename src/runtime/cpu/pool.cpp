// A job is opened at the gate, every worker that comes in time takes part, and the caller does not wait for those that
// come late: it closes the gate, so that a sleeping worker costs nothing but its help.
#include "runtime/cpu/pool.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>

#include "runtime/cpu/float_control.h"
#include "runtime/cpu/threads.h"
#include "runtime/env.h"
#include "runtime/fork.h"
#include "runtime/machine.h"

namespace sinter::runtime::cpu {
namespace {

constexpr uint32_t kOpen = 1u << 31;
constexpr int64_t kChunksPerThread = 4;
// Longer than the host needs between two kernels of a plan; a futex wake costs about 4 us.
constexpr std::chrono::microseconds kSpin{50};

void futex(std::atomic<uint32_t>& word, int operation, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Spins until done() or the time is over; says whether it is done.
template <class Done>
bool spin(Done done) {
  const auto start = std::chrono::steady_clock::now();
  do
    for (int i = 0; i < 64; ++i) {
      if (done()) return true;
      pause();
    }
  while (std::chrono::steady_clock::now() - start < kSpin);
  return done();
}

}  // namespace

Pool::Pool(int threads) : threads_(std::max(threads, 1)) {}
Pool::~Pool() { stop(); }

/// The right to use the pool, for whoever got it: busy_ says so.
class Pool::Busy {
 public:
  explicit Busy(Pool& pool) : pool_(pool) {}
  ~Busy() { pool_.busy_.store(false, std::memory_order_release); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  Pool& pool_;
};

void Pool::start() {
  auto shares = std::make_unique<Share[]>(static_cast<size_t>(threads()));
  start_threads(workers_, threads() - 1, [this](int i) { worker(i + 1); });
  shares_ = std::move(shares);
  pins_.place(workers_);
}

void Pool::stop() {
  stopping_.store(true);
  epoch_.fetch_add(1);
  futex(epoch_, FUTEX_WAKE, INT_MAX);
  for (std::thread& w : workers_) w.join();
  workers_.clear();
  shares_.reset();
  stopping_.store(false);
}

void Pool::resize(int threads) {
  while (busy_.exchange(true, std::memory_order_acquire)) sched_yield();
  const Busy busy(*this);
  stop();
  threads_.store(std::max(threads, 1));
}

int Pool::run(int64_t begin, int64_t end, int64_t grain, Function fn, void* context) {
  if (begin >= end) return 0;
  const int64_t size = end - begin, most = size / std::max<int64_t>(grain, 1);
  if (most < 2 || threads() == 1 || busy_.exchange(true, std::memory_order_acquire)) return fn(context, begin, end);
  const Busy busy(*this);
  if (!shares_) start();
  pins_.make_way(workers_);
  const int64_t parties = threads();
  job_ = {fn, context, begin, size, std::min(most, parties * kChunksPerThread)};
  for (int64_t i = 0; i < parties; ++i) {
    shares_[i].next.store(job_.chunks * i / parties, std::memory_order_relaxed);
    shares_[i].end = job_.chunks * (i + 1) / parties;
  }
  errors_.store(0, std::memory_order_relaxed);
  gate_.store(kOpen, std::memory_order_release);
  epoch_.fetch_add(1);  // sequentially consistent, as in sleep_until_work: one of the two sees the other
  if (sleepers_.load()) futex(epoch_, FUTEX_WAKE, INT_MAX);

  work(0);
  gate_.fetch_and(~kOpen, std::memory_order_acq_rel);
  const auto empty = [this] { return gate_.load(std::memory_order_acquire) == 0; };
  while (!spin(empty)) sched_yield();  // a worker lost its CPU: let it have ours
  return errors_.load(std::memory_order_relaxed);
}

void Pool::work(int index) {
  const int parties = threads();
  int errors = 0;
  for (int i = 0; i < parties; ++i) {
    Share& share = shares_[(index + i) % parties];
    for (;;) {
      const int64_t chunk = share.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= share.end) break;
      const auto edge = [this](int64_t i) {
        return job_.begin + job_.size * i / job_.chunks;
      };  // so that shares are even too
      errors |= job_.fn(job_.context, edge(chunk), edge(chunk + 1));
    }
  }
  if (errors) errors_.fetch_or(errors, std::memory_order_relaxed);
}

bool Pool::sleep_until_work(uint32_t& seen) {
  const auto changed = [&] { return epoch_.load(std::memory_order_acquire) != seen; };
  while (!spin(changed)) {
    sleepers_.fetch_add(1);
    if (epoch_.load() == seen) futex(epoch_, FUTEX_WAIT, seen);
    sleepers_.fetch_sub(1);
  }
  seen = epoch_.load(std::memory_order_acquire);
  return !stopping_.load();
}

void Pool::worker(int index) {
  const DefaultFloats floats;  // not those of the thread that started it
  uint32_t seen = 0;
  while (sleep_until_work(seen)) {
    uint32_t gate = gate_.load(std::memory_order_acquire);
    while (gate & kOpen)
      if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acq_rel)) {
        work(index);
        gate_.fetch_sub(1, std::memory_order_release);
        break;
      }
  }
}

namespace {

std::atomic<Pool*> process_pool{nullptr};

// The child has only the thread that forked: it leaves the parent's pool behind.
void forget_pool() { process_pool.store(nullptr); }

}  // namespace

Pool& pool() {
  static const int cpus = usable_cpus();
  static const bool once = (call_in_child(forget_pool), true);
  (void)once;
  const int wanted = env().threads ? env().threads : cpus;
  Pool* found = process_pool.load();
  if (!found) {
    auto made = std::make_unique<Pool>(wanted);
    if (process_pool.compare_exchange_strong(found, made.get())) found = made.release();
  }
  if (found->threads() != wanted) found->resize(wanted);
  return *found;
}

}  // namespace sinter::runtime::cpu
