// Accesses to memory by one lane: which memory an address names, whether the access may be made there, and the requests
// of a warp as the counters see them.
#pragma once

#include "runtime/cuda/sim/lanes.h"
#include "runtime/cuda/sim/launch.h"

namespace sinter::runtime::cuda::sim {

/// One lane's access, checked.
struct Place {
  std::byte* data = nullptr;
  Space space = Space::Global;
};

class Access {
 public:
  /// `bytes`: that each lane touches.
  Access(Warp& warp, const Instruction& in, uint64_t bytes, Touch touch);

  /// Checks the access of a lane at in.source[0] + in.offset: bounds, alignment and, unless checks are off, that what
  /// is read was written and that nobody races. Throws Fault.
  Place operator()(int lane);
  /// Counts the request, after all its lanes were accessed.
  void count();

 private:
  Region& locate(int lane, uint64_t address, uint64_t& at, Space& space);
  void check_shadow(Region& region, uint64_t at, int lane, Space space);
  [[noreturn]] void report_state(const Region& region, uint64_t at, int lane, Space space, bool red);
  [[noreturn]] void report_race(const Stamp& other, const Region& region, uint64_t at, int lane, Space space);

  Warp& warp_;
  Block& block_;
  const Instruction& in_;
  const uint64_t bytes_;
  const Touch touch_;
  Actor actor_;
  const uint64_t* base_;
  int lanes_ = 0;
  Space space_ = Space::Global;
  uint64_t addresses_[kLanes];
};

}  // namespace sinter::runtime::cuda::sim
