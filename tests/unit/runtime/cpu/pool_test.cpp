// The thread pool: coverage, equality with one thread, many callers, nesting, fork.
#include "catch.h"
#include "runtime/base/sanitizer.h"
#include "runtime/cpu/start_threads.h"
#include "runtime/cpu/thread_pool.h"
#include "sinter/sinter.h"
#include "skip.h"
#include "unit/runtime_support.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

using namespace sinter::runtime;
using namespace runtime_test;

namespace {

/// The affinity mask of each thread that takes part.
std::map<std::thread::id, cpu_set_t> masks_of(cpu::ThreadPool& pool) {
  std::mutex mutex;
  std::map<std::thread::id, cpu_set_t> seen;
  const auto threads = static_cast<size_t>(pool.threads());
  for (int round = 0; round < 1000 && seen.size() < threads; ++round)
    pool.parallel_for(0, pool.threads(), 1, [&](int64_t, int64_t) {
      cpu_set_t mine;
      sched_getaffinity(0, sizeof mine, &mine);
      {
        const std::lock_guard lock(mutex);
        seen[std::this_thread::get_id()] = mine;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      return 0;
    });
  return seen;
}

/// Whether both pieces, which wait for each other, are at work at the same time.
bool two_meet(cpu::ThreadPool& pool) {
  std::atomic<int> present{0}, met{0};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  pool.parallel_for(0, 2, 1, [&](int64_t, int64_t) {
    ++present;
    while (present < 2 && std::chrono::steady_clock::now() < deadline) usleep(10);
    met += std::chrono::steady_clock::now() < deadline;
    return 0;
  });
  return met == 2;
}

}  // namespace

TEST_CASE("each index is visited once, in pieces of at least the grain", "[runtime]") {
  for (int threads : {1, 2, 3, 8}) {
    cpu::ThreadPool pool(threads);
    for (int64_t size : {0, 1, 2, 7, 31, 32, 33, 1000, 4099})
      for (int64_t grain : {1, 5, 64, 10000}) {
        std::vector<std::atomic<int>> visits(static_cast<size_t>(size));
        std::atomic<int> small{0};
        const int result = pool.parallel_for(-3, size - 3, grain, [&](int64_t b, int64_t e) {
          if (e - b < std::min(grain, size)) ++small;
          for (int64_t i = b; i < e; ++i) ++visits[static_cast<size_t>(i + 3)];
          return 0;
        });
        bool once = true;
        for (auto& v : visits) once = once && v == 1;
        INFO(threads << " threads, " << size << " elements, grain " << grain);
        CHECK((once && result == 0 && small == 0));
      }
  }
}

TEST_CASE("a chunk is taken once, and who comes late for a job finds none", "[runtime]") {
  cpu::ChunkQueue share;
  CHECK(share.take(1, 2, 4) == 2);
  CHECK(share.take(1, 2, 4) == 3);
  CHECK(share.take(1, 2, 4) == -1);
  CHECK(share.take(2, 1, 1) == -1);  // empty in this job
  CHECK(share.take(5, 0, 2) == 0);
  CHECK(share.take(1, 2, 4) == -1);  // late: nothing of job 1, nor of job 5
  CHECK(share.take(2, 0, 9) == -1);
  CHECK(share.take(5, 0, 2) == 1);
  CHECK(share.take(6, 0, cpu::ChunkQueue::kMaxChunks) == 0);
}

TEST_CASE("a job on the board is read whole or not at all", "[runtime]") {
  cpu::JobSeqlock board;
  cpu::Job job;
  CHECK_FALSE(board.read(job));
  std::atomic<bool> done{false};
  int64_t read = 0, torn = 0;  // the reader's
  std::thread reader([&] {
    cpu::Job seen;
    for (uint64_t last = 0; !done || !read;)
      if (board.read(seen)) {
        const auto number = static_cast<int64_t>(seen.number);
        torn += seen.number < last || seen.begin != number || seen.size != 2 * number || seen.chunks != 3 * number;
        last = seen.number;
        ++read;
      }
  });
  for (int64_t n = 1; n <= 100'000; ++n) board.post({static_cast<uint64_t>(n), nullptr, nullptr, n, 2 * n, 3 * n});
  done = true;
  reader.join();
  CHECK(torn == 0);
  REQUIRE(board.read(job));
  CHECK(job.number == 100'000);
}

TEST_CASE("what threads begin with is as much for each of them", "[runtime]") {
  for (int threads : {2, 3}) {
    cpu::ThreadPool pool(threads);
    const int64_t size = 66;
    std::vector<std::atomic<bool>> begins(static_cast<size_t>(size));
    pool.parallel_for(0, size, 1, [&](int64_t b, int64_t) { return begins[static_cast<size_t>(b)] = true, 0; });
    for (int i = 0; i < threads; ++i) CHECK(begins[static_cast<size_t>(size / threads * i)]);
  }
}

TEST_CASE("workers have a CPU each where all CPUs have a thread, and else go where they like", "[runtime]") {
  cpu_set_t all;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  const int cpus = CPU_COUNT(&all);
  if (cpus < 2) SKIP_TEST("one CPU");
  const auto masks = [](int threads) {
    cpu::ThreadPool pool(threads);
    return masks_of(pool);
  };
  cpu_set_t taken;
  CPU_ZERO(&taken);
  for (const auto& [thread, mask] : masks(cpus)) {
    if (thread == std::this_thread::get_id()) {
      CHECK(CPU_EQUAL(&mask, &all));  // the caller's is its own affair
      continue;
    }
    CHECK(CPU_COUNT(&mask) == 1);
    CPU_OR(&taken, &taken, &mask);
  }
  CHECK(CPU_COUNT(&taken) == cpus - 1);
  for (const auto& [thread, mask] : masks(cpus + 1)) CHECK(CPU_EQUAL(&mask, &all));
}

TEST_CASE("workers have the CPUs of who made the pool, though a thread that may use but one starts them", "[runtime]") {
  cpu_set_t all, one;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  const int cpus = CPU_COUNT(&all);
  if (cpus < 2) SKIP_TEST("one CPU");
  size_t first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  for (const int threads : {cpus, cpus + 1}) {
    const bool pinned = threads == cpus;
    cpu::ThreadPool pool(threads);
    std::map<std::thread::id, cpu_set_t> masks;
    std::thread([&] {
      sched_setaffinity(0, sizeof one, &one);
      masks = masks_of(pool);
      masks.erase(std::this_thread::get_id());
    }).join();
    cpu_set_t taken;
    CPU_ZERO(&taken);
    for (const auto& [thread, mask] : masks) {
      CHECK(CPU_COUNT(&mask) == (pinned ? 1 : cpus));
      CPU_OR(&taken, &taken, &mask);
    }
    CHECK(CPU_COUNT(&taken) == (pinned ? cpus - 1 : cpus));
    const bool beside_the_caller = CPU_ISSET(first, &taken);
    CHECK(beside_the_caller == !pinned);
  }
}

TEST_CASE("results are bitwise those of one thread", "[runtime]") {
  const int64_t size = 10007;
  const auto run = [&](int threads) {
    cpu::ThreadPool pool(threads);
    std::vector<float> out(static_cast<size_t>(size));
    for (int round = 0; round < 50; ++round)
      pool.parallel_for(0, size, 16, [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; ++i) out[static_cast<size_t>(i)] += std::sin(static_cast<float>(i * (round + 1)));
        return 0;
      });
    return out;
  };
  const auto one = run(1);
  CHECK(run(2) == one);
  CHECK(run(5) == one);
}

TEST_CASE("error codes of all pieces are collected", "[runtime]") {
  cpu::ThreadPool pool(3);
  for (int round = 0; round < 100; ++round) {
    const int result = pool.parallel_for(0, 1000, 1, [](int64_t b, int64_t e) {
      int bits = 0;
      for (int64_t i = b; i < e; ++i) bits |= i == 0 ? 1 : i == 500 ? 4 : i == 999 ? 16 : 0;
      return bits;
    });
    REQUIRE(result == 21);
  }
  CHECK(pool.parallel_for(0, 1000, 1, [](int64_t, int64_t) { return 0; }) == 0);
}

TEST_CASE("several callers and nested ranges are safe", "[runtime]") {
  cpu::ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        pool.parallel_for(0, 64, 1, [&](int64_t b, int64_t e) {
          pool.parallel_for(b, e, 1, [&](int64_t from, int64_t to) {
            sum += to - from;
            return 0;
          });
          return 0;
        });
    });
  for (auto& caller : callers) caller.join();
  CHECK(sum == 4 * 200 * 64);
}

TEST_CASE("workers that went to sleep wake up, and their number can change", "[runtime]") {
  cpu::ThreadPool pool(2);
  const auto covered = [&] {
    std::atomic<int64_t> sum{0};
    pool.parallel_for(0, 1000, 1, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) sum += i;
      return 0;
    });
    return sum == 999 * 1000 / 2;
  };
  CHECK(covered());
  usleep(5000);  // far longer than they spin
  CHECK(two_meet(pool));
  pool.resize(4);
  CHECK(pool.threads() == 4);
  CHECK(covered());
  pool.resize(1);
  CHECK(covered());
}

TEST_CASE("all threads take part when the pieces are long", "[runtime]") {
  cpu::ThreadPool pool(2);
  CHECK(two_meet(pool));
}

TEST_CASE("kernels round as ever, whatever the program has set for its thread", "[runtime]") {
  const unsigned before = _mm_getcsr();
  const sinter::Tensor tiny = sinter::full({1 << 16}, 1e-39).contiguous();
  tiny.realize();
  _mm_setcsr(before | 0x8040);  // denormals are zero, as a library built with -ffast-math sets it
  const sinter::Tensor half = tiny * 0.5;
  half.realize();
  const unsigned left = _mm_getcsr();
  _mm_setcsr(before);
  CHECK((left & 0x8040) == 0x8040);
  const std::vector<float> values = half.to_vector<float>();
  CHECK(std::count(values.begin(), values.end(), 1e-39f * 0.5f) == 1 << 16);
}

TEST_CASE("a pool that could not start is usable afterwards", "[runtime]") {
  if (kSanitizer != Sanitizer::None) SKIP_TEST("a sanitizer's build");  // they take address space as they like
  cpu::ThreadPool pool(1 << 22);                                        // 256 MiB of shares
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  std::ifstream statm("/proc/self/statm");
  uint64_t pages = 0;
  statm >> pages;
  const rlimit tight{pages * static_cast<uint64_t>(getpagesize()) + (64 << 20), before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);
  CHECK_THROWS_AS(pool.parallel_for(0, 100, 1, [](int64_t, int64_t) { return 0; }), std::bad_alloc);
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  pool.resize(2);  // waits until nobody is at work
  std::atomic<int64_t> sum{0};
  pool.parallel_for(0, 100, 1, [&](int64_t b, int64_t e) {
    sum += e - b;
    return 0;
  });
  CHECK(sum == 100);
}

TEST_CASE("threads of our own take no signals, and the caller's mask stays", "[runtime]") {
  const auto blocked = [] {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    return sigismember(&mask, SIGUSR1) == 1;
  };
  std::atomic<int> quiet{0};
  std::vector<std::thread> threads;
  cpu::start_threads(threads, 3, [&](int i) { quiet += blocked() << 4 * i; });
  REQUIRE(threads.size() == 3);
  for (std::thread& t : threads) t.join();
  CHECK(quiet == 0x111);
  CHECK_FALSE(blocked());
}

TEST_CASE("the process pool follows SINTER_THREADS and works in a forked child", "[runtime]") {
  const ScopedEnv threads("SINTER_THREADS", "3");
  CHECK(cpu::thread_pool().threads() == 3);
  const auto sum = [] {
    std::atomic<int64_t> total{0};
    cpu::thread_pool().parallel_for(0, 100, 1, [&](int64_t b, int64_t e) {
      total += e - b;
      return 0;
    });
    return total.load();
  };
  CHECK(sum() == 100);
  const pid_t child = fork();
  if (child == 0) _exit(sum() == 100 && sum() == 100 && cpu::thread_pool().threads() == 3 ? 0 : 1);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(sum() == 100);
}
