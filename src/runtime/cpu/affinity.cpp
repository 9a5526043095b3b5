#include "runtime/cpu/affinity.h"

#include <sched.h>

#include <algorithm>

namespace sinter::runtime::cpu {

std::vector<int> allowed_cpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<size_t>(cpu), &mask)) cpus.push_back(cpu);
  return cpus;
}

void pin(pthread_t thread, std::span<const int> cpus) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &mask);
  pthread_setaffinity_np(thread, sizeof mask, &mask);
}

void ThreadAffinity::pin_workers(std::vector<std::thread>& workers) {
  cpu_of_.clear();
  free_cpus_ = cpus_;
  const int here = sched_getcpu();
  if (cpus_.size() != workers.size() + 1 || here < 0) {
    for (std::thread& worker : workers) pin(worker.native_handle(), cpus_);
    return;
  }
  std::ranges::partition(free_cpus_, [here](int cpu) { return cpu == here; });
  for (std::thread& worker : workers) {
    cpu_of_.push_back(free_cpus_.back());
    free_cpus_.pop_back();
    pin(worker.native_handle(), {&cpu_of_.back(), 1});
  }
}

void ThreadAffinity::avoid_caller_cpu(std::vector<std::thread>& workers) {
  if (cpu_of_.empty()) return;
  const auto met = std::ranges::find(cpu_of_, sched_getcpu());
  if (met == cpu_of_.end()) return;
  std::swap(*met, free_cpus_.front());
  pin(workers[met - cpu_of_.begin()].native_handle(), {&*met, 1});
}

}  // namespace sinter::runtime::cpu
