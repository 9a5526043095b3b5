// The memory of launches that run at the same moment, for builds and runs that check: what one launch writes, no other
// touches, and no other buffer of its own lies there. The plan's hazards, the arena and the graph's claims promise
// that.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sinter::runtime {

/// What a running launch declares; taken back by the destructor.
class MemoryUse {
 public:
  struct Range {
    const std::byte* start;
    size_t bytes;
    bool written;
  };
  /// Throws InternalError, naming both kernels, where bytes are written that another range, of this launch or of one
  /// that runs now, holds too.
  MemoryUse(std::string kernel, std::vector<Range> ranges);
  ~MemoryUse();
  MemoryUse(const MemoryUse&) = delete;
  MemoryUse& operator=(const MemoryUse&) = delete;

 private:
  void compare(const MemoryUse& other) const;

  const std::string kernel_;
  const std::vector<Range> ranges_;
};

}  // namespace sinter::runtime
