#include "runtime/cuda/sim/access.h"

#include <fmt/core.h>

#include <cstring>

#include "runtime/cuda/sim/requests.h"

namespace sinter::runtime::cuda::sim {
namespace {

const char* name_of(Space space) {
  return space == Space::Shared ? "shared memory" : space == Space::Local ? "local memory" : "global memory";
}

/// The variable at or just before a byte of shared or local memory, in words.
std::string variable_at(const std::vector<Placed>& placed, uint64_t at, uint64_t dynamic) {
  std::string out = "before the first variable";
  for (const Placed& variable : placed)
    if (variable.at <= at)
      out = fmt::format("byte {} of {} ({} bytes)", at - variable.at, variable.name,
                        variable.dynamic ? dynamic : variable.bytes);
  return out;
}

}  // namespace

Access::Access(Warp& warp, const Instruction& in, uint64_t bytes, Touch touch)
    : warp_(warp),
      block_(*warp.block),
      in_(in),
      bytes_(bytes),
      touch_(touch),
      base_(lanes<uint64_t>(warp, in.source[0])) {
  actor_ = {
      Block::time(), block_.launched, block_.started, warp.barrier, warp.synced, 0, static_cast<uint16_t>(warp.at)};
}

Region& Access::locate(int lane, uint64_t address, uint64_t& at, Space& space) {
  space = in_.space;
  if (space == Space::Generic) {
    if (address - kSharedWindow < kWindowBytes) {
      space = Space::Shared;
      address -= kSharedWindow;
    } else if (address - kLocalWindow < kWindowBytes) {
      space = Space::Local;
      address -= kLocalWindow;
    } else {
      space = Space::Global;
    }
  }
  Region* region = nullptr;
  uint64_t extent = 0;
  if (space == Space::Global) {
    Region*& hint = block_.hints[warp_.at];
    if (!hint || address - hint->base >= hint->bytes) hint = block_.memory.find(address);
    region = hint;
    if (!region) fail(warp_, lane, Result::IllegalAddress, block_.memory.describe(address));
    at = address - region->base;
    extent = region->bytes;
  } else if (space == Space::Shared) {
    region = &block_.shared;
    at = address;
    extent = region->bytes;
  } else {
    region = &block_.local;
    at = address;
    extent = block_.kernel.local_bytes;
  }
  if (at >= extent || bytes_ > extent - at) {
    if (space == Space::Global)
      fail(warp_, lane, Result::IllegalAddress,
           fmt::format("{} bytes at byte {} of {}: out of bounds", bytes_, at, region->name()));
    fail(warp_, lane, Result::IllegalAddress,
         fmt::format("byte {} of {} does not exist, there are {}: out of bounds", at, name_of(space), extent));
  }
  if (space == Space::Local) at += (warp_.index * kLanes + static_cast<uint64_t>(lane)) * block_.kernel.local_bytes;
  if (address & (bytes_ - 1))
    fail(warp_, lane, Result::MisalignedAddress,
         fmt::format("an access of {} bytes at {:#x}, which is not a multiple of {}: misaligned", bytes_, address,
                     bytes_));
  return *region;
}

void Access::check_shadow(Region& region, uint64_t at, int lane, Space space) {
  uint8_t* state = region.state.get() + at;
  constexpr uint64_t kAllWritten = 0x0101010101010101u * kInitialised, kAnyRed = 0x0101010101010101u * kRed;
  for (uint64_t i = 0; i < bytes_; i += 8) {
    const uint64_t count = std::min<uint64_t>(8, bytes_ - i);
    uint64_t states = kAllWritten;
    std::memcpy(&states, state + i, count);
    if (states & kAnyRed) report_state(region, at, lane, space, true);
    if (touch_ != Touch::Write && states != kAllWritten) report_state(region, at, lane, space, false);
  }
  if (touch_ == Touch::Write) std::memset(state, kInitialised, bytes_);
  if (space == Space::Local) return;
  Actor actor = actor_;
  actor.thread = static_cast<uint16_t>(warp_.index * kLanes + static_cast<uint32_t>(lane));
  if (space == Space::Shared) actor.launch = actor.block;  // another block's was another memory
  if (const Stamp* other = note_access(region, at, bytes_, touch_, actor)) report_race(*other, region, at, lane, space);
}

void Access::report_state(const Region& region, uint64_t at, int lane, Space space, bool red) {
  std::string where = fmt::format("byte {} of {}", at, region.name());
  if (space == Space::Shared) where = variable_at(block_.kernel.shared, at, block_.shape.dynamic_shared);
  if (space == Space::Local) where = variable_at(block_.kernel.local, at % block_.kernel.local_bytes, 0);
  if (red) fail(warp_, lane, Result::IllegalAddress, fmt::format("{} of {}: out of bounds", where, name_of(space)));
  fail(warp_, lane, Result::LaunchFailed,
       fmt::format("{} of {} is read, which nothing has written: uninitialised", where, name_of(space)));
}

void Access::report_race(const Stamp& other, const Region& region, uint64_t at, int lane, Space space) {
  const bool other_block = other.when < actor_.block || other.blocks;
  std::string where = fmt::format("byte {} of {}", at, region.name());
  if (space == Space::Shared) where = variable_at(block_.kernel.shared, at, block_.shape.dynamic_shared);
  const std::string who = other_block ? "another block of this launch" : "thread " + thread_name(block_, other.thread);
  fail(warp_, lane, Result::LaunchFailed,
       fmt::format("race: {} in {} was touched by {} at {}, and {}", where, name_of(space), who,
                   place_of(block_.kernel, other.instruction),
                   other_block ? "blocks have no order" : "no barrier stands between"));
}

Place Access::operator()(int lane) {
  const uint64_t address = base_[lane] + static_cast<uint64_t>(in_.offset);
  uint64_t at = 0;
  Space space;
  Region& region = locate(lane, address, at, space);
  if (block_.options.check)
    check_shadow(region, at, lane, space);
  else if (touch_ == Touch::Write)
    std::memset(region.state.get() + at, kInitialised, bytes_);
  space_ = space;
  addresses_[lanes_++] = space == Space::Shared ? at : address;
  return {region.data.get() + at, space};
}

void Access::count() {
  if (space_ == Space::Global) count_global(block_.counters, addresses_, lanes_, bytes_);
  if (space_ == Space::Shared) count_shared(block_.counters, addresses_, lanes_, bytes_);
}

}  // namespace sinter::runtime::cuda::sim
