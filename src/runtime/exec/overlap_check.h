// The memory of launches that run at the same moment, for builds and runs that check: what one launch writes, no other
// touches, and no other buffer of its own lies there. The plan's hazards, the arena and the graph's claims promise
// that.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sinter::runtime {

/// What a running launch declares; taken back by the destructor.
class OverlapCheck {
 public:
  struct MemoryRange {
    const std::byte* start;
    size_t bytes;
    bool written;
  };
  /// Throws InternalError, naming both kernels, where bytes are written that another range, of this launch or of one
  /// that runs now, holds too.
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
