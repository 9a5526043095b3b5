#include "cudasim/lane_access.h"

#include <fmt/core.h>

#include "cudasim/requests.h"

namespace sinter::runtime::cuda::sim {
namespace {

const char* name_of(Space space) {
  return space == Space::Shared ? "shared memory" : space == Space::Local ? "local memory" : "global memory";
}

/// The variable at or just before a byte of shared or local memory, in words.
std::string variable_at(const std::vector<Placed>& placed, uint64_t at, uint64_t dynamic) {
  std::string out = "what lies before the first variable";
  for (const Placed& variable : placed)
    if (variable.at <= at)
      out = fmt::format("byte {} of {} ({} bytes)", at - variable.at, variable.name,
                        variable.dynamic ? dynamic : variable.bytes);
  return out;
}

}  // namespace

AccessBase::AccessBase(Warp& warp, const Instruction& in, uint64_t bytes)
    : warp_(warp),
      block_(*warp.block),
      in_(in),
      bytes_(bytes),
      base_(lanes<uint64_t>(warp, in.source[0])),
      space_(in.space) {
  actor_ = {
      Block::time(), block_.ordered, block_.started, warp.barrier, warp.synced, 0, static_cast<uint16_t>(warp.at)};
  if (space_ == Space::Shared) enter(block_.shared, Space::Shared);
  if (space_ == Space::Global && block_.hints[warp.at]) enter(*block_.hints[warp.at], Space::Global);
}

void AccessBase::enter(Region& region, Space space) {
  region_ = &region;
  space_ = space;
  least_ = space == Space::Global ? region.base : in_.space == Space::Generic ? kSharedWindow : 0;
  room_ = region.bytes >= bytes_ ? region.bytes - bytes_ + 1 : 0;
  // Shared memory of another block was another memory, though its shadow is still here.
  actor_.launch = space == Space::Shared ? block_.started : block_.ordered;
}

uint64_t AccessBase::locate(int lane, uint64_t address) {
  Space space = in_.space;
  uint64_t at = address;
  if (space == Space::Generic) {
    space = Space::Global;
    if (address - kSharedWindow < kWindowBytes) space = Space::Shared, at -= kSharedWindow;
    if (address - kLocalWindow < kWindowBytes) space = Space::Local, at -= kLocalWindow;
  }
  uint64_t extent = block_.kernel.local_bytes;  // of one thread
  if (space == Space::Global) {
    Region* found = block_.memory.find(address);
    if (!found) fail(warp_, lane, Result::IllegalAddress, block_.memory.describe(address));
    enter(*(block_.hints[warp_.at] = found), space);
    at -= found->base;
    extent = found->bytes;
  } else if (space == Space::Shared) {
    enter(block_.shared, space);
    extent = block_.shared.bytes;
  } else {
    region_ = &block_.local;
    space_ = space;
    room_ = 0;  // each thread has its own: each access is looked for
  }
  if (at >= extent || bytes_ > extent - at)
    fail(warp_, lane, Result::IllegalAddress,
         fmt::format(
             "{} bytes at byte {} of {}: out of bounds", bytes_, at,
             space == Space::Global ? region_->name() : fmt::format("the {} bytes of {}", extent, name_of(space))));
  if (address & (bytes_ - 1))
    fail(warp_, lane, Result::MisalignedAddress,
         fmt::format("an access of {0} bytes at {1:#x}, which is not a multiple of {0}: misaligned", bytes_, address));
  if (space == Space::Local) at += (warp_.index * kLanes + static_cast<uint64_t>(lane)) * extent;
  return at;
}

std::string AccessBase::where(uint64_t at) const {
  if (space_ == Space::Shared) return variable_at(block_.kernel.shared, at, block_.shape.dynamic_shared);
  if (space_ == Space::Local) return variable_at(block_.kernel.local, at % block_.kernel.local_bytes, 0);
  return fmt::format("byte {} of {}", at, region_->name());
}

void AccessBase::check_state(uint64_t at, int lane, Touch touch) {
  for (uint64_t i = 0; i < bytes_; ++i)
    if (const uint8_t state = region_->state[at + i]; state == kRed || (state == kPadding && touch != Touch::Read))
      fail(warp_, lane, Result::IllegalAddress, fmt::format("{} of {}: out of bounds", where(at + i), name_of(space_)));
  if (touch == Touch::Atomic)
    fail(warp_, lane, Result::LaunchFailed,
         fmt::format("{} of {} is updated, which nothing has written: uninitialised", where(at), name_of(space_)));
  std::string& note = block_.unwritten[warp_.at];
  if (!note.empty()) return;
  while (region_->state[at] == kInitialised) ++at;
  note = fmt::format("{} of {}", where(at), name_of(space_));
}

void AccessBase::report_race(const Stamp& other, uint64_t at, int lane) {
  std::string who = "thread " + thread_name(block_, other.thread), why = "no barrier stands between";
  std::string when = " at " + place_of(block_.kernel, other.instruction);
  if (other.when < actor_.block || other.blocks) who = "another block of this launch", why = "blocks have no order";
  if (other.when < block_.launched) who = "a launch", when.clear(), why = "the two launches have no order";
  fail(warp_, lane, Result::LaunchFailed,
       fmt::format("race: {} in {} was touched by {}{}, and {}", where(at), name_of(space_), who, when, why));
}

void AccessBase::count() {
  if (space_ == Space::Global) count_global(block_.counters, addresses_, lanes_, bytes_);
  if (space_ == Space::Shared) count_shared(block_.counters, addresses_, lanes_, bytes_);
}

}  // namespace sinter::runtime::cuda::sim
