// Chooses which independent launches run at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sinter::runtime::cuda {

/// What is known of a launch before it runs.
struct LaunchEstimate {
  int64_t blocks = 0;
  int threads = 0;   ///< per block
  double ns = 0;     ///< expected compute time on all multiprocessors, without memory transfers
  double bytes = 0;  ///< bytes moved
};

/// Expected time in ns if the launch runs alone. Few or small blocks leave part of the machine idle. An order of
/// magnitude only.
double time_alone(const LaunchEstimate& launch, int multiprocessors);

/// Indices of launches that run concurrently.
using LaunchGroup = std::vector<size_t>;

/// Divides independent launches into groups that run one after the other. The launches of a group run concurrently:
/// either each of their blocks has a multiprocessor to itself, or all of them are short.
///
/// Hardware places blocks where there is room, not where they would be fast. If a long launch with few blocks starts
/// beside one that fills the machine, its blocks end up together on the few multiprocessors that become free first, and
/// share what each would have had alone. A launch that fills the machine by itself gains nothing from concurrency.
std::vector<LaunchGroup> group_launches(std::span<const LaunchEstimate> launches, int multiprocessors);

}  // namespace sinter::runtime::cuda
