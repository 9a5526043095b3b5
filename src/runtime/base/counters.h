// What the library has done so far, as numbers: tests and DEBUG=1 read them. Only ever added to.
#pragma once

#include <atomic>
#include <cstdint>

namespace sinter::runtime {

/// One count per kind of work. Each is relaxed: exact when read by the thread that did the work, or after a join.
struct EventCounters {
  using Count = std::atomic<uint64_t>;
  /// Added to under the tensor graph's mutex alone.
  struct GuardedCount : Count {
    using Count::Count;
  };
  GuardedCount plans = 0;        ///< plans executed
  Count plan_misses = 0;         ///< plans that the plan cache did not hold
  GuardedCount plans_known = 0;  ///< plans found by the walk alone (plan/fingerprint.h)
  Count partition_runs = 0;      ///< runs of the pass that draws kernel boundaries
  Count compiles = 0;            ///< kernels handed to a compiler
  Count memory_hits = 0;         ///< kernels found compiled in this process
  Count disk_hits = 0;           ///< kernels found in the cache folder
  Count launches = 0;            ///< of one kernel, or of several side by side; of plans that ran to their end
  Count nodes_interpreted = 0;   ///< nodes that interpreted plans evaluated
  GuardedCount in_place = 0;     ///< versions written into the storage of the version before
  GuardedCount moved = 0;        ///< versions that had to take new storage although there was one before
  Count bytes_moved = 0;         ///< bytes that the launched kernels read and wrote, by their plans
};

/// The process's counters.
inline EventCounters& counters() {
  static EventCounters all;
  return all;
}

inline void count(EventCounters::Count& counter, uint64_t by = 1) { counter.fetch_add(by, std::memory_order_relaxed); }
inline void count(EventCounters::GuardedCount& counter, uint64_t by = 1) {
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

}  // namespace sinter::runtime
