// Affinity masks of one CPU.
#include "runtime/cpu/pins.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>

namespace sinter::runtime::cpu {
namespace {

/// A CPU that has gone offline since leaves the worker where it is.
void pin(std::thread& worker, int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(cpu), &one);
  pthread_setaffinity_np(worker.native_handle(), sizeof one, &one);
}

}  // namespace

Pins::Pins(std::vector<std::thread>& workers) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return;
  const int here = sched_getcpu();
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<size_t>(cpu), &mask)) free_.push_back(cpu);
  if (free_.size() != workers.size() + 1 || here < 0) return;
  std::partition(free_.begin(), free_.end(), [here](int cpu) { return cpu == here; });
  for (std::thread& worker : workers) {
    pin(worker, of_.emplace_back(free_.back()));
    free_.pop_back();
  }
}

void Pins::make_way(std::vector<std::thread>& workers) {
  if (of_.empty()) return;
  const auto met = std::find(of_.begin(), of_.end(), sched_getcpu());
  if (met == of_.end()) return;
  pin(workers[static_cast<size_t>(met - of_.begin())], free_.front());
  std::swap(*met, free_.front());
}

}  // namespace sinter::runtime::cpu
