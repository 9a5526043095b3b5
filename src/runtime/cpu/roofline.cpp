// Measures the roofs of the roofline model (Williams, Waterman and Patterson, CACM 2009) with loops that only the unit
// in question can limit. Compute: multiply-adds in twelve independent chains, more than latency times units of the
// cores we know. Memory: copies much larger than the caches, on huge pages that the measuring thread touched first.
#include "runtime/cpu/roofline.h"

#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/cpu/affinity.h"
#include "runtime/cpu/huge_pages.h"
#include "runtime/cpu/start_threads.h"
#include "sinter/error.h"

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

namespace sinter::runtime::cpu {
namespace {

constexpr int kRounds = 5;
constexpr int64_t kSteps = 1'000'000;  // over all chains: a few milliseconds
constexpr int kChains = 12;
constexpr size_t kBytes = size_t{128} << 20;  // per buffer (there are two), over all threads

// Defines a function with `steps` rounds over the twelve chains, for vectors of `bytes` bytes. `step(a)` is one
// multiply-add as inline assembly, so compiler flags and contraction do not matter.
#define SINTER_CHAINS(step) \
  step(a0) step(a1) step(a2) step(a3) step(a4) step(a5) step(a6) step(a7) step(a8) step(a9) step(a10) step(a11)
#define SINTER_SEED(a) V a = c;
#define SINTER_SUM(a) sum += (a)[0];
#define SINTER_FMA_LOOP(name, attribute, bytes, step)           \
  attribute float name(int64_t steps) {                         \
    using V = float __attribute__((vector_size(bytes)));        \
    const V b = V{} + 0.999f, c = V{} + 1e-6f;                  \
    SINTER_CHAINS(SINTER_SEED)                                  \
    for (int64_t i = 0; i < steps; ++i) { SINTER_CHAINS(step) } \
    float sum = 0;                                              \
    SINTER_CHAINS(SINTER_SUM)                                   \
    return sum;                                                 \
  }

struct FmaLoop {
  float (*loop)(int64_t steps);
  int lanes;
};

#if defined(__x86_64__)
#define SINTER_FMA(a) asm("vfmadd213ps %2, %1, %0" : "+v"(a) : "v"(b), "v"(c));
#define SINTER_MUL_ADD(a) asm("mulps %1, %0\n\taddps %2, %0" : "+x"(a) : "x"(b), "x"(c));
SINTER_FMA_LOOP(fma_avx512, __attribute__((target("avx512f"))), 64, SINTER_FMA)
SINTER_FMA_LOOP(fma_avx2, __attribute__((target("avx2,fma"))), 32, SINTER_FMA)
SINTER_FMA_LOOP(mul_add_sse, , 16, SINTER_MUL_ADD)

FmaLoop widest_fma_loop() {
  if (__builtin_cpu_supports("avx512f")) return {fma_avx512, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {fma_avx2, 8};
  return {mul_add_sse, 4};
}

using Quad = __m128;
void store_past_caches(float* to, Quad value) { _mm_stream_ps(to, value); }
void finish_stores() { _mm_sfence(); }
#else
#error "write the multiply-add of this architecture's vectors"
#endif

// Four vectors per iteration: a cache line on x86-64.
constexpr size_t kFloatsPerIteration = 16;
// That a sum reads side by side: one stream alone waits for its prefetcher.
constexpr size_t kStreams = 8;

void copy_floats(const float* from, float* to, size_t count) {
  for (size_t i = 0; i < count; i += kFloatsPerIteration)
    for (size_t j = 0; j < kFloatsPerIteration; j += 4)
      store_past_caches(to + i + j, *reinterpret_cast<const Quad*>(from + i + j));
  finish_stores();
}

float sum(const float* from, size_t count) {
  Quad a{}, b{}, c{}, d{};
  const size_t stream = count / kStreams;
  for (size_t i = 0; i < stream; i += kFloatsPerIteration)
    for (size_t s = 0; s < kStreams; ++s) {
      const Quad* line = reinterpret_cast<const Quad*>(from + s * stream + i);
      a += line[0], b += line[1], c += line[2], d += line[3];
    }
  a += b, c += d, a += c;
  return a[0];
}

/// Memory for the measured loops.
class BenchmarkPages {
 public:
  explicit BenchmarkPages(size_t bytes) : bytes_(bytes), start_(map_pages(bytes)) {
    if (!start_) throw OutOfMemory(fmt::format("no {} MiB to measure this machine's memory with", bytes >> 20));
  }
  ~BenchmarkPages() { unmap_pages(start_, bytes_); }
  BenchmarkPages(const BenchmarkPages&) = delete;
  BenchmarkPages& operator=(const BenchmarkPages&) = delete;
  float* data() const { return static_cast<float*>(start_); }

 private:
  size_t bytes_;
  void* start_;
};

// Keeps the computation of `value` from being eliminated.
void do_not_optimize(float value) { asm volatile("" : : "r,m"(value) : "memory"); }

/// Runs work(member) on `threads` threads that start together. Returns the seconds from the first start to the last
/// end.
template <class Work>
double seconds(int threads, const Work& work) {
  using Clock = std::chrono::steady_clock;
  const std::vector<int> cpus = allowed_cpus();
  std::atomic<int> missing = threads;
  std::vector<std::pair<Clock::time_point, Clock::time_point>> spans(static_cast<size_t>(threads));
  std::vector<std::thread> team;
  start_threads(team, threads, [&](int member) {
    if (!cpus.empty()) pin(pthread_self(), {&cpus[static_cast<size_t>(member) % cpus.size()], 1});
    for (--missing; missing > 0;) std::this_thread::yield();
    const auto begin = Clock::now();
    work(member);
    spans[member] = {begin, Clock::now()};
  });
  const bool whole = team.size() == spans.size();
  if (!whole) missing = 0;  // do not wait for threads that could not be started
  for (std::thread& member : team) member.join();
  if (!whole) throw BackendError(fmt::format("no {} threads to measure this machine with", threads));
  auto [first, last] = spans[0];
  for (const auto& [begin, end] : spans) first = std::min(first, begin), last = std::max(last, end);
  return std::chrono::duration<double>(last - first).count();
}

template <class Rate>
double best(const Rate& rate) {
  double most = 0;
  for (int round = 0; round < kRounds; ++round) most = std::max(most, rate());
  return most;
}

}  // namespace

/// Each thread has the same number of floats, in whole iterations of all streams, and touched them first.
struct RooflineBenchmark::Memory {
  static constexpr size_t kUnit = kStreams * kFloatsPerIteration;
  explicit Memory(int threads) : floats(kBytes / sizeof(float) / static_cast<size_t>(threads) / kUnit * kUnit) {}
  float* part(const BenchmarkPages& pages, int member) const {
    return pages.data() + static_cast<size_t>(member) * floats;
  }
  double bytes(int threads) const { return static_cast<double>(floats * sizeof(float)) * threads; }

  const size_t floats;
  const BenchmarkPages from{kBytes}, to{kBytes};
};

RooflineBenchmark::RooflineBenchmark(int threads)
    : threads_(std::max(1, threads)), memory_(std::make_unique<Memory>(threads_)) {
  const Memory& m = *memory_;
  seconds(threads_, [&](int member) {
    std::fill_n(m.part(m.from, member), m.floats, 1.0f);
    std::fill_n(m.part(m.to, member), m.floats, 0.0f);
  });
}
RooflineBenchmark::~RooflineBenchmark() = default;

double RooflineBenchmark::flops() {
  const FmaLoop fma = widest_fma_loop();
  return 2.0 * kChains * fma.lanes * kSteps * threads_ /
         seconds(threads_, [&](int) { do_not_optimize(fma.loop(kSteps)); });
}
double RooflineBenchmark::copy() {
  const Memory& m = *memory_;
  return 2 * m.bytes(threads_) /
         seconds(threads_, [&](int member) { copy_floats(m.part(m.from, member), m.part(m.to, member), m.floats); });
}
double RooflineBenchmark::read() {
  const Memory& m = *memory_;
  return m.bytes(threads_) /
         seconds(threads_, [&](int member) { do_not_optimize(sum(m.part(m.from, member), m.floats)); });
}

Roofline measure_roofline(int threads) {
  RooflineBenchmark loops(threads);
  return {.flops = best([&] { return loops.flops(); }),
          .copy = best([&] { return loops.copy(); }),
          .read = best([&] { return loops.read(); })};
}

}  // namespace sinter::runtime::cpu
