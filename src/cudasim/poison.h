// Tracks register values loaded from memory that was never written. Compilers load speculatively, or more bytes than
// needed, and discard the result: that is no fault. It is a fault if such a value decides a branch or an address, or
// reaches global memory.
//
// Tracking is per bit. A register's unknown bits are ones in the warp's shadow, which has the layout of the register
// file. A warp has no shadow until it loads such a value.
#pragma once

#include "cudasim/warp.h"

namespace sinter::runtime::cuda::sim {

/// The poison state of a register, stored in the shadow after the register's bits, which are valid only in these lanes.
struct Poison {
  uint32_t lanes = 0;   ///< lanes with unknown bits
  uint32_t origin = 0;  ///< the load they came from
};

constexpr size_t lane_bytes(RegisterSlot slot) { return slot.bytes ? size_t{slot.bytes} * kLanes : sizeof(uint32_t); }

/// The warp must have a shadow.
inline Poison& poison(Warp& warp, RegisterSlot slot) {
  return *reinterpret_cast<Poison*>(warp.shadow.get() + slot.at + lane_bytes(slot));
}

/// The unknown bits of a lane's value. The warp must have a shadow.
uint64_t unknown_bits(Warp& warp, RegisterSlot slot, int lane);

/// Marks bits as unknown, with the load `origin` as their source. Creates the shadow if needed.
void add_unknown(Warp& warp, RegisterSlot slot, int lane, uint64_t bits, uint32_t origin);

/// Call before an instruction executes: derives the results' unknown bits from the sources'. Throws Fault if a value
/// must be known. The warp must have a shadow.
void follow_poison(Warp& warp, const Instruction& in, uint32_t mask);

/// The same for a shuffle, once it is known that lane i of the result comes from lane from[i] of the first source.
void shuffle_poison(Warp& warp, const Instruction& in, uint32_t mask, const int* from);

/// Throws the fault for using the value in `lane`; `what` names the use.
[[noreturn]] void report_poison(Warp& warp, uint32_t origin, int lane, const char* what);

}  // namespace sinter::runtime::cuda::sim
