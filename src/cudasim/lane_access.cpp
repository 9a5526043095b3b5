#include "cudasim/lane_access.h"

#include <fmt/core.h>

#include "cudasim/requests.h"

namespace sinter::runtime::cuda::sim {
namespace {

const char* name_of(StateSpace space) {
  return space == StateSpace::Shared ? "shared memory" : space == StateSpace::Local ? "local memory" : "global memory";
}

/// Describes the variable at or just before a byte of shared or local memory.
std::string variable_at(const std::vector<VariableLayout>& placed, uint64_t at, uint64_t dynamic) {
  std::string out = "what lies before the first variable";
  for (const VariableLayout& variable : placed)
    if (variable.at <= at)
      out = fmt::format("byte {} of {} ({} bytes)", at - variable.at, variable.name,
                        variable.dynamic ? dynamic : variable.bytes);
  return out;
}

}  // namespace

LaneAccessBase::LaneAccessBase(Warp& warp, const Instruction& in, uint64_t bytes)
    : warp_(warp),
      block_(*warp.block),
      in_(in),
      bytes_(bytes),
      base_(lanes<uint64_t>(warp, in.source[0])),
      space_(in.space) {
  if (in.source[0].bytes == 4) {  // of shared memory
    const uint32_t* narrow = lanes<uint32_t>(warp, in.source[0]);
    std::copy(narrow, narrow + kLanes, widened_);
    base_ = widened_;
  }
  actor_ = {SimBlock::time(),
            block_.ordered_before,
            block_.started,
            warp.barrier,
            warp.grouped,
            warp.group,
            warp.synced,
            0,
            static_cast<uint16_t>(warp.at),
            block_.order.any() ? &block_.order : nullptr};
  if (space_ != StateSpace::Local) warp.accessed = actor_.now;
  if (space_ == StateSpace::Shared) enter(block_.shared, StateSpace::Shared);
  if (space_ == StateSpace::Global && block_.hints[warp.at]) enter(*block_.hints[warp.at], StateSpace::Global);
}

void LaneAccessBase::enter(MemoryRegion& region, StateSpace space) {
  region_ = &region;
  space_ = space;
  least_ = space == StateSpace::Global ? region.base : in_.space == StateSpace::Generic ? kSharedWindow : 0;
  room_ = region.bytes >= bytes_ ? region.bytes - bytes_ + 1 : 0;
  // Another block's shared memory was different memory, though its shadow is still here.
  actor_.launch = space == StateSpace::Shared ? block_.started : block_.ordered_before;
}

uint64_t LaneAccessBase::locate(int lane, uint64_t address) {
  StateSpace space = in_.space;
  uint64_t at = address;
  if (space == StateSpace::Generic) {
    space = StateSpace::Global;
    if (address - kSharedWindow < kWindowBytes) space = StateSpace::Shared, at -= kSharedWindow;
    if (address - kLocalWindow < kWindowBytes) space = StateSpace::Local, at -= kLocalWindow;
  }
  uint64_t extent = block_.kernel.local_bytes;  // per thread
  if (space == StateSpace::Global) {
    MemoryRegion* found = block_.memory.find(address);
    if (!found) fail(warp_, lane, CudaResult::IllegalAddress, block_.memory.describe(address));
    enter(*(block_.hints[warp_.at] = found), space);
    at -= found->base;
    extent = found->bytes;
  } else if (space == StateSpace::Shared) {
    enter(block_.shared, space);
    extent = block_.shared.bytes;
  } else {
    region_ = &block_.local;
    space_ = space;
    room_ = 0;  // each thread has its own memory, so each access is resolved separately
  }
  if (at >= extent || bytes_ > extent - at)
    fail(warp_, lane, CudaResult::IllegalAddress,
         fmt::format("{} bytes at byte {} of {}: out of bounds", bytes_, at,
                     space == StateSpace::Global ? region_->name()
                                                 : fmt::format("the {} bytes of {}", extent, name_of(space))));
  if (address & (bytes_ - 1))
    fail(warp_, lane, CudaResult::MisalignedAddress,
         fmt::format("an access of {0} bytes at {1:#x}, which is not a multiple of {0}: misaligned", bytes_, address));
  if (space == StateSpace::Local) at += (warp_.index * kLanes + static_cast<uint64_t>(lane)) * extent;
  return at;
}

std::string LaneAccessBase::where(uint64_t at) const {
  if (space_ == StateSpace::Shared) return variable_at(block_.kernel.shared, at, block_.shape.dynamic_shared);
  if (space_ == StateSpace::Local) return variable_at(block_.kernel.local, at % block_.kernel.local_bytes, 0);
  return fmt::format("byte {} of {}", at, region_->name());
}

void LaneAccessBase::check_state(uint64_t at, int lane, AccessKind touch) {
  for (uint64_t i = 0; i < bytes_; ++i)
    if (const uint8_t state = region_->state[at + i]; state == kRed || (state == kPadding && touch != AccessKind::Read))
      fail(warp_, lane, CudaResult::IllegalAddress,
           fmt::format("{} of {}: out of bounds", where(at + i), name_of(space_)));
  if (touch == AccessKind::Atomic)
    fail(warp_, lane, CudaResult::LaunchFailed,
         fmt::format("{} of {} is updated, which nothing has written: uninitialized", where(at), name_of(space_)));
  std::string& note = block_.unwritten[warp_.at];
  if (!note.empty()) return;
  while (region_->state[at] == kInitialized) ++at;
  note = fmt::format("{} of {}", where(at), name_of(space_));
}

void LaneAccessBase::report_race(const AccessStamp& other, uint64_t at, int lane) {
  std::string who = "thread " + thread_name(block_, other.thread), why = "no barrier stands between";
  std::string when = " at " + place_of(block_.kernel, other.instruction);
  if (other.when < actor_.block || other.blocks)
    who = "another block of this launch", why = "no fence and atomic order the two";
  if (other.when < block_.launched) who = "a launch", when.clear(), why = "the two launches have no order";
  fail(warp_, lane, CudaResult::LaunchFailed,
       fmt::format("race: {} in {} was touched by {}{}, and {}", where(at), name_of(space_), who, when, why));
}

void LaneAccessBase::report_noncoherent(const AccessStamp& write, uint64_t at, int lane) {
  fail(warp_, lane, CudaResult::LaunchFailed,
       fmt::format("{} in {} is read by .nc and was written at {} in the same launch: a non-coherent load", where(at),
                   name_of(space_), place_of(block_.kernel, write.instruction)));
}

void LaneAccessBase::count() {
  if (!lanes_) return;
  if (space_ == StateSpace::Global) count_global(block_.counters, addresses_, lanes_, bytes_);
  if (space_ == StateSpace::Shared) count_shared(block_.counters, addresses_, lanes_, bytes_);
}

}  // namespace sinter::runtime::cuda::sim
