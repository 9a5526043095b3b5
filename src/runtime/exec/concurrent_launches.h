// Which launches that need not wait for each other run at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sinter::runtime::cuda {

/// What is known of a launch before it runs.
struct LaunchEstimate {
  int64_t blocks = 0;
  int threads = 0;   ///< of a block
  double ns = 0;     ///< expected, on all multiprocessors, beside moving memory
  double bytes = 0;  ///< that it moves
};

/// ns that the launch is expected to take alone, where few blocks or small ones leave part of the machine idle. An
/// order of magnitude.
double time_alone(const LaunchEstimate& launch, int multiprocessors);

/// Numbers of launches that run side by side.
using LaunchGroup = std::vector<size_t>;

/// In which groups, one after the other, launches run that need not wait for each other. Those of one group run side by
/// side: either each of their blocks has a multiprocessor to itself, or each of them is short. Hardware puts blocks
/// where there is room, not where they would be fast: those of a long launch that leaves most of the machine empty,
/// begun beside one that fills it, end up together on the few multiprocessors that are done first, and share there what
/// each had alone. What fills the machine by itself gains nothing from company.
std::vector<LaunchGroup> group_launches(std::span<const LaunchEstimate> launches, int multiprocessors);

}  // namespace sinter::runtime::cuda
