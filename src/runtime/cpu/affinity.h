// Which CPU each worker of a pool runs on: one of its own, and none that the caller runs on.
#pragma once

#include <pthread.h>

#include <span>
#include <thread>
#include <vector>

namespace sinter::runtime::cpu {

/// CPUs that the calling thread may run on; none if nobody knows.
std::vector<int> allowed_cpus();

/// Lets a thread run on these CPUs alone. If all have gone offline it stays where it may.
void pin(pthread_t thread, std::span<const int> cpus);

/// Two threads that spin on one CPU wait for each other's time slices, and the system may take milliseconds to part
/// them. Workers are therefore pinned to different CPUs of those that the pool's maker may use, if all of these have a
/// thread then. Otherwise none is pinned to one: with CPUs to spare the system finds it, and several processes would
/// choose the same.
class ThreadAffinity {
 public:
  /// For workers that a caller has just started, which have its affinity mask so far. None is pinned to the CPU that
  /// the caller runs on.
  void pin_workers(std::vector<std::thread>& workers);

  /// If the system has moved the caller to a worker's CPU, that worker moves to one that nobody has.
  void avoid_caller_cpu(std::vector<std::thread>& workers);

 private:
  std::vector<int> cpus_ = allowed_cpus();  ///< of the pool's maker
  std::vector<int> cpu_of_;                 ///< by worker; empty: not pinned
  std::vector<int> free_cpus_;              ///< those of cpus_ without a worker
};

}  // namespace sinter::runtime::cpu
