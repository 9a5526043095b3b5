// How the threads of a pool learn of a job and share it out. Whatever one core has written and another one reads next
// costs 0.07 us (Granite Rapids) to 0.18 (a Zen 5): a job is one cache line, and taking from it a second.
#pragma once

#include <atomic>
#include <cstdint>

namespace sinter::runtime::cpu {

/// A range in `chunks` pieces.
struct Job {
  /// Works on [begin, end) and returns error bits; does not throw.
  using RangeFunction = int (*)(void* context, int64_t begin, int64_t end);

  uint64_t number = 0;  ///< jobs of a pool are counted, from 1
  RangeFunction fn = nullptr;
  void* context = nullptr;
  int64_t begin = 0, size = 0, chunks = 0;

  /// Where a chunk begins: all are as long, but for one element.
  int64_t edge(int64_t chunk) const { return begin + size * chunk / chunks; }
};

/// The latest job of a pool: a seqlock (Boehm, "Can seqlocks get along with programming language memory models?",
/// 2012).
class alignas(64) JobSeqlock {
 public:
  /// One thread at a time. In the one order of all sequentially consistent accesses, as who may sleep needs.
  void post(const Job& job) {
    number_.store(kWriting, std::memory_order_relaxed);
    fn_.store(job.fn, std::memory_order_release);
    context_.store(job.context, std::memory_order_release);
    begin_.store(job.begin, std::memory_order_release);
    size_.store(job.size, std::memory_order_release);
    chunks_.store(job.chunks, std::memory_order_release);
    number_.store(job.number);
  }
  /// Of the latest job; 0 while the next one is written, or before the first.
  uint64_t number() const { return number_.load(); }
  /// False if it was written meanwhile.
  bool read(Job& job) const {
    job.number = number_.load(std::memory_order_acquire);
    job.fn = fn_.load(std::memory_order_acquire);
    job.context = context_.load(std::memory_order_acquire);
    job.begin = begin_.load(std::memory_order_acquire);
    job.size = size_.load(std::memory_order_acquire);
    job.chunks = chunks_.load(std::memory_order_acquire);
    return job.number != kWriting && number_.load(std::memory_order_relaxed) == job.number;
  }

 private:
  static constexpr uint64_t kWriting = 0;

  std::atomic<uint64_t> number_{kWriting};
  std::atomic<Job::RangeFunction> fn_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<int64_t> begin_{0}, size_{0}, chunks_{0};
};

/// Chunks that one thread begins with; the others take from it when their own are gone. The job's number stands beside
/// the next chunk: nobody has to prepare a share, and who comes late for a job finds nothing of it, nor of a later one.
class alignas(64) ChunkQueue {
 public:
  /// The next of the chunks [first, end) of this job, which is the thread's from then on; -1 if none is left.
  int64_t take(uint64_t job, int64_t first, int64_t end) {
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      const uint64_t last = word >> kChunkBits;  // the last job of which somebody took some
      const int64_t next = last == job ? static_cast<int64_t>(word & kMostChunks) : last < job ? first : end;
      if (next >= end) return -1;
      if (word_.compare_exchange_weak(word, job << kChunkBits | static_cast<uint64_t>(next + 1),
                                      std::memory_order_relaxed))
        return next;
    }
  }

  static constexpr int kChunkBits = 16;  ///< of the word; at a job a microsecond the others last nine years
  static constexpr int64_t kMostChunks = (1 << kChunkBits) - 1;  ///< that a job may have

 private:
  std::atomic<uint64_t> word_{0};
};

}  // namespace sinter::runtime::cpu
