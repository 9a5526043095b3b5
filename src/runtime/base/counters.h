// Monotonic event counters. Tests and DEBUG=1 read them.
#pragma once

#include <atomic>
#include <cstdint>

namespace sinter::runtime {

/// One counter per kind of work. Updates are relaxed: a read is exact on the thread that did the work, or after a join.
struct EventCounters {
  using Count = std::atomic<uint64_t>;
  /// Incremented only under the tensor graph's mutex.
  struct GuardedCount : Count {
    using Count::Count;
  };
  GuardedCount plans = 0;        ///< plans executed
  Count plan_misses = 0;         ///< plans not found in the plan cache
  GuardedCount plans_known = 0;  ///< plans found by the fingerprint walk alone (plan/fingerprint.h)
  Count partition_runs = 0;      ///< runs of the partition pass
  Count compiles = 0;            ///< kernels passed to a compiler
  Count memory_hits = 0;         ///< kernels found compiled in this process
  Count disk_hits = 0;           ///< kernels found in the cache folder
  Count launches = 0;  ///< launches of one kernel or of several concurrent ones, in plans that ran to completion
  Count nodes_interpreted = 0;  ///< nodes evaluated by interpreted plans
  GuardedCount in_place = 0;    ///< versions written in place, into the previous version's storage
  GuardedCount relocated = 0;   ///< versions that needed new storage although a previous one existed
  Count allocations = 0;        ///< blocks of memory allocated, on all devices
  Count bytes_moved = 0;        ///< bytes that launched kernels read and wrote, according to their plans
};

/// The counters of this process.
inline EventCounters& counters() {
  static EventCounters all;
  return all;
}

inline void count(EventCounters::Count& counter, uint64_t by = 1) { counter.fetch_add(by, std::memory_order_relaxed); }
inline void count(EventCounters::GuardedCount& counter, uint64_t by = 1) {
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

}  // namespace sinter::runtime
