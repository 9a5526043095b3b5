#include "runtime/cuda/sim/poison.h"

#include <fmt/core.h>

#include "runtime/cuda/sim/lanes.h"
#include "runtime/cuda/sim/launch.h"

namespace sinter::runtime::cuda::sim {
namespace {

/// All sources together, in the lanes of `mask`.
Poison sources(Warp& warp, const Instruction& in, uint32_t mask) {
  Poison all;
  for (const Slot slot : in.source) {
    const Poison& one = poison(warp, slot);
    if (!(one.lanes & mask)) continue;
    all.lanes |= one.lanes & mask;
    all.origin = one.origin;
  }
  return all;
}

void write_results(Warp& warp, const Instruction& in, uint32_t mask, const Poison& value) {
  for (const Slot slot : {in.result[0], in.result[1], in.result[2], in.result[3], in.pair}) {
    if (!slot.at) continue;
    Poison& result = poison(warp, slot);
    result.lanes = (result.lanes & ~mask) | (value.lanes & mask);
    if (value.lanes & mask) result.origin = value.origin;
  }
}

}  // namespace

void report_poison(Warp& warp, const Poison& found, uint32_t mask, const char* what) {
  const Block& block = *warp.block;
  const auto where = block.unwritten.find(found.origin);
  fail(warp, std::countr_zero(found.lanes & mask), Result::LaunchFailed,
       fmt::format("{} depends on {}, which nothing has written and {} has read: uninitialised", what,
                   where == block.unwritten.end() ? "memory" : where->second, place_of(block.kernel, found.origin)));
}

void set_poison(Warp& warp, Slot result, uint32_t lanes) {
  warp.poisoned = true;
  Poison& found = poison(warp, result);
  found = {found.lanes | lanes, warp.at};
}

void follow_poison(Warp& warp, const Instruction& in, uint32_t mask) {
  if (const Poison& guard = poison(warp, in.guard); guard.lanes & warp.active)
    report_poison(warp, guard, warp.active, "whether this is done");
  Poison value = sources(warp, in, mask);
  switch (in.use) {
    case Use::Plain: break;
    case Use::Select: {
      const uint32_t chosen = predicate(warp, in.source[2]) ^ in.source_flip;
      value.lanes &= poison(warp, in.source[2]).lanes | (chosen & poison(warp, in.source[0]).lanes) |
                     (~chosen & poison(warp, in.source[1]).lanes);
      break;
    }
    case Use::And:
    case Use::Or: {  // one side that decides is enough
      const uint32_t flip = in.use == Use::And ? kAllLanes : 0;
      for (const int i : {0, 1})
        value.lanes &= ~((predicate(warp, in.source[i]) ^ flip) & ~poison(warp, in.source[i]).lanes);
      break;
    }
    case Use::Load:
      if (const Poison& address = poison(warp, in.source[0]); address.lanes & mask)
        report_poison(warp, address, mask, "the address");
      value.lanes = 0;
      break;
    case Use::Together:
      if (value.lanes) value.lanes = mask;
      break;
    case Use::Store:
      if (value.lanes) report_poison(warp, value, mask, "the address");
      return;
    case Use::Shuffle: return;  // moves it by itself
    case Use::Known:
      if (value.lanes) report_poison(warp, value, mask, "what this does");
      break;
  }
  write_results(warp, in, mask, value);
}

}  // namespace sinter::runtime::cuda::sim
