// What a register holds that comes from memory which nothing has written. Compilers read ahead of a condition and throw
// away what they read: that is no fault. It is one when such a value decides a branch or an address, or reaches global
// memory.
//
// Each register's lanes are followed by a Poison. As long as a warp has read no such value, nothing is followed.
#pragma once

#include "runtime/cuda/sim/warp.h"

namespace sinter::runtime::cuda::sim {

struct Poison {
  uint32_t lanes = 0;   ///< whose value is affected
  uint32_t origin = 0;  ///< the load that it came from
};

constexpr size_t lane_bytes(Slot slot) { return slot.bytes ? size_t{slot.bytes} * kLanes : sizeof(uint32_t); }

inline Poison& poison(Warp& warp, Slot slot) {
  return *reinterpret_cast<Poison*>(warp.registers + slot.at + lane_bytes(slot));
}

/// Before an instruction runs: what its results will hold, from what its sources hold. Throws Fault where a value must
/// be known.
void follow_poison(Warp& warp, const Instruction& in, uint32_t mask);

/// The load that runs found for these lanes of a result what nothing has written.
void set_poison(Warp& warp, Slot result, uint32_t lanes);

/// Throws the fault that a use of the value is; `what` says which use.
[[noreturn]] void report_poison(Warp& warp, const Poison& found, uint32_t mask, const char* what);

}  // namespace sinter::runtime::cuda::sim
