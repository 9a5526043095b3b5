// What a register holds that comes from memory which nothing has written. Compilers read ahead of a condition, or more
// bytes than they want, and throw away what they read: that is no fault. It is one when such a value decides a branch
// or an address, or reaches global memory.
//
// It is followed bit by bit. A register's unknown bits are ones in the warp's shadow, a file laid out as that of the
// registers; a warp has none before it reads such a value.
#pragma once

#include "cudasim/warp.h"

namespace sinter::runtime::cuda::sim {

/// Of a register; lies in the shadow behind its bits, which say something in these lanes only.
struct Poison {
  uint32_t lanes = 0;   ///< that have unknown bits
  uint32_t origin = 0;  ///< the load that they came from
};

constexpr size_t lane_bytes(RegisterSlot slot) { return slot.bytes ? size_t{slot.bytes} * kLanes : sizeof(uint32_t); }

/// Of a warp that has a shadow.
inline Poison& poison(Warp& warp, RegisterSlot slot) {
  return *reinterpret_cast<Poison*>(warp.shadow.get() + slot.at + lane_bytes(slot));
}

/// The unknown bits of a lane's value. The warp has a shadow.
uint64_t unknown_bits(Warp& warp, RegisterSlot slot, int lane);

/// Adds unknown bits, which came from the load `origin`; makes the shadow.
void add_unknown(Warp& warp, RegisterSlot slot, int lane, uint64_t bits, uint32_t origin);

/// Before an instruction runs: what its results will hold, from what its sources hold. Throws Fault where a value must
/// be known. The warp has a shadow.
void follow_poison(Warp& warp, const Instruction& in, uint32_t mask);

/// The same for a shuffle, once it is known that lane i of the result comes from lane from[i] of the first source.
void shuffle_poison(Warp& warp, const Instruction& in, uint32_t mask, const int* from);

/// Throws the fault that a use of the value in `lane` is; `what` says which use.
[[noreturn]] void report_poison(Warp& warp, uint32_t origin, int lane, const char* what);

}  // namespace sinter::runtime::cuda::sim
