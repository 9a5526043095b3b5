// Memory accesses by the lanes of a warp: resolves addresses, checks each access, and reports the request to the
// counters.
#pragma once

#include <algorithm>

#include "cudasim/launch.h"
#include "cudasim/races.h"
#include "cudasim/warp_lanes.h"

namespace sinter::runtime::cuda::sim {

/// The part that does not depend on the access size. A place is a MemoryRegion and an offset in it.
class LaneAccessBase {
 protected:
  LaneAccessBase(Warp& warp, const Instruction& in, uint64_t bytes);

  /// Resolves a lane's address in any state space. Afterwards region_ and least_ are those of the place. Throws Fault:
  /// out of bounds, misaligned.
  uint64_t locate(int lane, uint64_t address);
  /// Throws the fault that the bytes' states imply: out of bounds, or an atomic on bytes that were never written. A
  /// plain read of bytes that were never written is only recorded, with its place.
  void check_state(uint64_t at, int lane, AccessKind touch);
  [[noreturn]] void report_race(const AccessStamp& other, uint64_t at, int lane);
  [[noreturn]] void report_noncoherent(const AccessStamp& write, uint64_t at, int lane);
  void count();

  Warp& warp_;
  SimBlock& block_;
  const Instruction& in_;
  const uint64_t bytes_;
  Actor actor_;
  const uint64_t* base_;
  uint64_t widened_[kLanes];  ///< the addresses, if their registers have 4 bytes
  // Fast path: addresses in region_ need no search if they are at least least_ and not too close to its end.
  MemoryRegion* region_ = nullptr;
  uint64_t least_ = 0, room_ = 0;  ///< room_: number of offsets at which an access fits
  StateSpace space_;
  int lanes_ = 0;
  uint64_t addresses_[kLanes];

 private:
  void enter(MemoryRegion& region, StateSpace space);
  std::string where(uint64_t at) const;
};

/// One instruction's accesses of kBytes bytes per lane.
template <uint64_t kBytes, AccessKind kTouch>
class LaneAccess : LaneAccessBase {
 public:
  LaneAccess(Warp& warp, const Instruction& in) : LaneAccessBase(warp, in, kBytes) {}

  /// Address of the data that a lane accesses at in.source[0] + in.offset. Checks bounds and alignment and, unless
  /// checks are off, that bytes read were written and that there is no race. Throws Fault.
  std::byte* operator()(int lane) { return (*this)(lane, address(lane)); }
  /// The same for another address than the instruction's.
  std::byte* operator()(int lane, uint64_t address) {
    addresses_[lanes_++] = address;
    // A repeated address, as in broadcasts: that more than one lane reads it has already been recorded.
    if (kTouch == AccessKind::Read && repeated_ > 1 && address == last_ && space_ != StateSpace::Local &&
        !unwritten_lanes_)
      return data_;
    uint64_t at = address - least_;
    if (at >= room_ || (address & (kBytes - 1))) at = locate(lane, address);
    data_ = region_->data.get() + at;
    uint8_t* state = region_->state.get() + at;
    if (block_.options.check) {
      if (!may_touch(state)) {
        check_state(at, lane, kTouch);
        unwritten_lanes_ |= 1u << lane;
        unwritten_[lane] = unwritten_bytes(state);
      }
      if (space_ != StateSpace::Local) note(at, lane);
    }
    if (kTouch == AccessKind::Write) std::memset(state, kInitialized, kBytes);
    repeated_ = address == last_ ? repeated_ + 1 : 1;
    last_ = address;
    return data_;
  }

  /// The lanes that have read bytes that were never written.
  uint32_t unwritten_lanes() const { return unwritten_lanes_; }
  /// These bytes of one such lane, as a bit mask.
  uint32_t unwritten(int lane) const { return unwritten_[lane]; }
  /// Whether the last access was to global memory.
  bool is_global() const { return space_ == StateSpace::Global; }
  /// The address that the instruction gives for a lane.
  uint64_t address(int lane) const { return base_[lane] + static_cast<uint64_t>(in_.offset); }
  /// Marks `bytes` (a bit mask) of the last write as never written, because the stored values are unknown.
  void mark_unwritten(uint32_t bytes) {
    uint8_t* state = region_->state.get() + (data_ - region_->data.get());
    for_lanes(bytes, [&](int byte) { state[byte] = kUninitialized; });
  }

  /// Counts the request. Call after the accesses of all lanes.
  void count() { LaneAccessBase::count(); }
  /// Forgets the request so far, which is not counted.
  void forget() {
    lanes_ = 0;
    unwritten_lanes_ = 0;
  }

 private:
  static bool may_touch(const uint8_t* state) {
    constexpr uint64_t kEach = 0x0101010101010101u;
    bool good = true;
    for (uint64_t i = 0; i < kBytes; i += 8) {
      uint64_t states = kEach * kInitialized;
      std::memcpy(&states, state + i, kBytes < 8 ? kBytes : 8);
      good &= kTouch == AccessKind::Write ? (states & kEach * (kRed | kPadding)) == 0 : states == kEach * kInitialized;
    }
    return good;
  }

  static uint32_t unwritten_bytes(const uint8_t* state) {
    uint32_t bytes = 0;
    for (uint64_t i = 0; i < kBytes; ++i) bytes |= static_cast<uint32_t>(state[i] != kInitialized) << i;
    return bytes;
  }

  void note(uint64_t at, int lane) {
    if (!region_->cells || (kBytes < 4 && region_->shift)) prepare_cells(*region_, kBytes);
    actor_.thread = static_cast<uint16_t>(warp_.index * kLanes + static_cast<uint32_t>(lane));
    ShadowCell* cells = region_->cells.get();
    const uint64_t end = (at + kBytes) >> region_->shift;
    for (uint64_t i = at >> region_->shift; i < end; ++i) {
      if (const AccessStamp* other = note_cell<kTouch>(cells[i], actor_)) report_race(*other, at, lane);
      if (kTouch == AccessKind::Read && in_.noncoherent && cells[i].write.when >= actor_.launch)
        report_noncoherent(cells[i].write, at, lane);
    }
  }

  std::byte* data_ = nullptr;
  uint32_t unwritten_lanes_ = 0;
  uint32_t unwritten_[kLanes];  ///< valid for these lanes
  uint64_t last_ = 0;
  int repeated_ = 0;
};

}  // namespace sinter::runtime::cuda::sim
