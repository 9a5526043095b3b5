// Which CPU each worker of a pool runs on: one of its own, and none that the caller runs on.
#pragma once

#include <thread>
#include <vector>

namespace sinter::runtime::cpu {

/// Two threads that spin on one CPU wait for each other's time slices, and the system may take milliseconds to part them. Workers
/// are therefore pinned to different CPUs of the caller's affinity mask, if all of these have a thread then. Otherwise nothing is pinned:
/// with CPUs to spare the system finds one, and several processes would choose the same.
class Pins {
 public:
  Pins() = default;
  /// Pins the workers that a caller has just started, each beside the CPU that the caller runs on.
  explicit Pins(std::vector<std::thread>& workers);

  /// If the system has moved the caller to a worker's CPU, that worker moves to one that nobody has.
  void make_way(std::vector<std::thread>& workers);

 private:
  std::vector<int> of_;    ///< by worker; empty: not pinned
  std::vector<int> free_;  ///< CPUs of the mask without a worker
};

}  // namespace sinter::runtime::cpu
