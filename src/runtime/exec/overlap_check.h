// Checks that launches running at the same time do not overlap in memory, in builds and runs that check. Bytes that one
// launch writes must not be accessed by another launch, nor belong to another buffer of the same launch. The plan's
// hazards, the arena and the graph's claims guarantee that.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sinter::runtime {

/// The memory that a running launch declares, until destruction.
class OverlapCheck {
 public:
  struct MemoryRange {
    const std::byte* start;
    size_t bytes;
    bool written;
  };
  /// Throws InternalError, naming both kernels, if written bytes are also in another range of this launch or of a
  /// launch that runs now.
  OverlapCheck(std::string kernel, std::vector<MemoryRange> ranges);
  ~OverlapCheck();
  OverlapCheck(const OverlapCheck&) = delete;
  OverlapCheck& operator=(const OverlapCheck&) = delete;

 private:
  void compare(const OverlapCheck& other) const;

  const std::string kernel_;
  const std::vector<MemoryRange> ranges_;
};

}  // namespace sinter::runtime
