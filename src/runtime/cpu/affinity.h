// Which CPU each worker of a pool runs on: one of its own, never the caller's.
#pragma once

#include <pthread.h>

#include <span>
#include <thread>
#include <vector>

namespace sinter::runtime::cpu {

/// CPUs that the calling thread may run on; empty if unknown.
std::vector<int> allowed_cpus();

/// Restricts a thread to these CPUs. If all of them are offline, its affinity stays unchanged.
void pin(pthread_t thread, std::span<const int> cpus);

/// Two threads that spin on one CPU wait for each other's time slices, and the scheduler may take milliseconds to
/// separate them. If the pool has one thread per CPU of its creator's affinity mask, each worker is therefore pinned to
/// a CPU of its own. Otherwise no worker is pinned to a single CPU: with CPUs to spare the scheduler finds a free one,
/// and several processes would pin to the same CPUs.
class ThreadAffinity {
 public:
  /// For workers that the caller has just started and that still have its affinity mask. No worker is pinned to the
  /// caller's CPU.
  void pin_workers(std::vector<std::thread>& workers);

  /// If the scheduler has moved the caller to a worker's CPU, that worker moves to a free one.
  void avoid_caller_cpu(std::vector<std::thread>& workers);

 private:
  std::vector<int> cpus_ = allowed_cpus();  ///< allowed to the pool's creator
  std::vector<int> cpu_of_;                 ///< per worker; empty: not pinned
  std::vector<int> free_cpus_;              ///< CPUs in cpus_ without a worker
};

}  // namespace sinter::runtime::cpu
