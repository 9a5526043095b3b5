// Control groups (versions 1 and 2), the affinity mask and sysconf -> CPUs and bytes.
#include "runtime/base/system_limits.h"

#include <fmt/core.h>

#include <sched.h>
#include <unistd.h>
#include <cmath>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace sinter::runtime {
namespace {

/// The cgroup folders of one controller that hold limits for this process, innermost first.
std::vector<std::string> group_folders(const std::string& controller) {
  std::vector<std::string> folders;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "4:memory:/path", or "0::/path" in version 2
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    std::string root = "/sys/fs/cgroup";
    if (names != ",,") {
      if (names.find(fmt::format(",{},", controller)) == std::string::npos) continue;
      root += "/" + controller;
    }
    for (std::string path = line.substr(second + 1);; path.resize(path.rfind('/'))) {
      if (path == "/") path.clear();
      folders.push_back(root + path);
      if (path.empty() || path.rfind('/') == std::string::npos) break;
    }
  }
  return folders;
}

/// Reads the first number of a file, and the second if requested. False if there is none ("max", or no such file).
bool read_numbers(const std::string& path, double& first, double* second = nullptr) {
  std::ifstream file(path);
  if (!(file >> first)) return false;
  return !second || static_cast<bool>(file >> *second);
}

double cpu_quota() {
  double least = 1e9, quota = 0, period = 0;
  for (const std::string& folder : group_folders("cpu")) {
    if (!read_numbers(folder + "/cpu.max", quota, &period) &&
        !(read_numbers(folder + "/cpu.cfs_quota_us", quota) && read_numbers(folder + "/cpu.cfs_period_us", period)))
      continue;
    if (quota > 0 && period > 0) least = std::min(least, quota / period);
  }
  return least;
}

}  // namespace

int usable_cpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  int cpus = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask)
                                                           : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const double quota = cpu_quota();
  if (quota < cpus) cpus = static_cast<int>(std::lround(quota));
  return std::max(cpus, 1);
}

uint64_t usable_memory() {
  double least = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE)), limit = 0;
  for (const std::string& folder : group_folders("memory"))
    if (read_numbers(folder + "/memory.max", limit) || read_numbers(folder + "/memory.limit_in_bytes", limit))
      least = std::min(least, limit);
  return static_cast<uint64_t>(least);
}

}  // namespace sinter::runtime
