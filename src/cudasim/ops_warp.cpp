// Instructions that lanes of a warp execute together: shuffles, votes, reductions, synchronization. Each names the
// participating lanes; those that arrive first wait for the others.
#include <fmt/core.h>

#include <algorithm>

#include "cudasim/launch.h"
#include "cudasim/poison.h"
#include "cudasim/type_dispatch.h"

namespace sinter::runtime::cuda::sim {
namespace {

/// The lanes of `mask` wait at this instruction, which all lanes of `set` will execute together.
void wait_for(Warp& warp, uint32_t set, uint32_t mask) {
  if (warp.parked && warp.parked_pc != warp.at)
    fail(warp, std::countr_zero(mask), CudaResult::LaunchFailed,
         fmt::format("lanes {:#010x} of the warp wait elsewhere, {}: inactive lane", warp.parked,
                     place_of(warp.block->kernel, warp.parked_pc)));
  save_lane_pcs(warp);
  for_lanes(mask, [&](int lane) { warp.lane_pc[lane] = warp.at; });
  warp.parked |= mask;
  warp.parked_pc = warp.at;
  warp.parked_at_barrier = false;
  if ((warp.parked & set) == set) warp.parked &= ~set;
  select_active_lanes(warp);
}

/// The lanes that source `index` names. 0 if some of them have not arrived; the instruction is then executed again.
uint32_t members(Warp& warp, const Instruction& in, int index, uint32_t mask) {
  const uint32_t* named = lanes<uint32_t>(warp, in.source[index]);
  uint32_t missing = 0;
  for_lanes(mask, [&](int lane) {
    const uint32_t set = named[lane];
    if (!(set >> lane & 1))
      fail(warp, lane, CudaResult::LaunchFailed,
           fmt::format("the lane is not in the set {:#010x} of lanes that the instruction names", set));
    // Named lanes that the block does not have are ignored.
    missing |= set & warp.all & ~mask;
    if (missing & ~warp.alive)
      fail(
          warp, lane, CudaResult::LaunchFailed,
          fmt::format("the instruction names lanes that have exited ({:#010x}): inactive lane", missing & ~warp.alive));
  });
  const uint32_t set = named[std::countr_zero(mask)];
  if (!missing) return set;
  wait_for(warp, set & warp.all, mask);
  if (!warp.active)
    fail(warp, std::countr_zero(mask), CudaResult::LaunchFailed,
         fmt::format("the instruction names lanes ({:#010x}) that wait at another one: inactive lane", missing));
  return 0;
}

enum ShuffleKind : uint8_t { kUp, kDown, kButterfly, kIndex };

void shuffle(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!members(warp, in, 3, mask)) return;
  const uint32_t *b = lanes<uint32_t>(warp, in.source[1]), *c = lanes<uint32_t>(warp, in.source[2]);
  uint32_t values[kLanes], inside = 0;
  int sources[kLanes];
  std::memcpy(values, lanes<uint32_t>(warp, in.source[0]), sizeof values);
  uint32_t* to = lanes<uint32_t>(warp, in.result[0]);
  for_lanes(mask, [&](int at) {
    const int lane = at, shift = static_cast<int>(b[at] & 31), clamp = static_cast<int>(c[at] & 31),
              segment = static_cast<int>(c[at] >> 8 & 31);
    const int least = lane & segment, last = least | (clamp & ~segment);
    int from = lane;
    bool in_range = false;
    switch (in.mode) {
      case kUp: in_range = (from = lane - shift) >= last; break;
      case kDown: in_range = (from = lane + shift) <= last; break;
      case kButterfly: in_range = (from = lane ^ shift) <= last; break;
      case kIndex: in_range = (from = least | (shift & ~segment)) <= last; break;
      default: break;
    }
    if (!in_range) from = lane;
    if (!(mask >> from & 1))
      fail(warp, lane, CudaResult::LaunchFailed,
           fmt::format("the shuffle reads lane {}, which does not take part: inactive lane", from));
    to[lane] = values[from];
    sources[lane] = from;
    inside |= static_cast<uint32_t>(in_range) << lane;
  });
  if (in.pair.at) assign_predicate(warp, in.pair, mask, inside);
  if (warp.shadow) shuffle_poison(warp, in, mask, sources);
}

void decode_shfl(Decoder& d) {
  if (!d.take("sync")) d.fail("shuffles without .sync ended with sm_70");
  const int kind = d.take_one({"up", "down", "bfly", "idx"});
  if (kind < 0 || !d.take("b32")) d.fail("this kind of shuffle is not supported");
  d.out.mode = static_cast<uint8_t>(kind);
  d.out.poison_rule = PoisonRule::Shuffle;
  d.out.run = shuffle;
  d.operands(4, {4, 4, 4, 4});
}

enum VoteKind : uint8_t { kAll, kAny, kUniform, kBallot };

void vote(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!members(warp, in, 1, mask)) return;
  const uint32_t votes = source_predicate(warp, in, 0) & mask;
  if (in.mode == kBallot) return assign(lanes<uint32_t>(warp, in.result[0]), mask, [&](int) { return votes; });
  const bool yes = in.mode == kAll ? votes == mask : in.mode == kAny ? votes != 0 : votes == 0 || votes == mask;
  assign_predicate(warp, in.result[0], mask, yes ? kAllLanes : 0);
}

void decode_vote(Decoder& d) {
  if (!d.take("sync")) d.fail("votes without .sync ended with sm_70");
  d.out.mode = static_cast<uint8_t>(std::max(d.take_one({"all", "any", "uni", "ballot"}), 0));
  d.take_type();
  d.out.poison_rule = PoisonRule::AllLanes;
  d.out.run = vote;
  d.operands(d.out.mode == kBallot ? 4 : 0, {0, 4});
}

template <typename F, typename T>
void reduce(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!members(warp, in, 1, mask)) return;
  const T* a = lanes<T>(warp, in.source[0]);
  const int first = std::countr_zero(mask);
  T total = a[first];
  for_lanes(mask & (mask - 1), [&](int lane) { total = F()(total, a[lane]); });
  assign(lanes<T>(warp, in.result[0]), mask, [&](int) { return total; });
}

struct ReduceRow {
  std::string_view word, type;
  WarpFunction run;
};
constexpr ReduceRow kReductions[] = {
    {"add", "u32", reduce<std::plus<>, uint32_t>},
    {"add", "s32", reduce<std::plus<>, uint32_t>},  // wraps
    {"min", "u32", reduce<Min, uint32_t>},
    {"min", "s32", reduce<Min, int32_t>},
    {"max", "u32", reduce<Max, uint32_t>},
    {"max", "s32", reduce<Max, int32_t>},
    {"and", "b32", reduce<std::bit_and<>, uint32_t>},
    {"or", "b32", reduce<std::bit_or<>, uint32_t>},
    {"xor", "b32", reduce<std::bit_xor<>, uint32_t>},
};

void decode_redux(Decoder& d) {
  d.take("sync");
  d.out.poison_rule = PoisonRule::AllLanes;
  const std::string_view type = d.take_type(), kind = d.take_type();
  for (const ReduceRow& row : kReductions)
    if (row.word == kind && row.type == type) d.out.run = row.run;
  d.operands(4, {4, 4});
}

void active_mask(Warp& warp, const Instruction& in, uint32_t mask) {
  assign(lanes<uint32_t>(warp, in.result[0]), mask, [&](int) { return mask; });
}

void decode_activemask(Decoder& d) {
  d.take("b32");
  d.out.run = active_mask;
  d.result(4);
}

constexpr Opcode kOpcodes[] = {
    {"shfl", decode_shfl}, {"vote", decode_vote}, {"redux", decode_redux}, {"activemask", decode_activemask}};

}  // namespace

void sync_warp(Warp& warp, const Instruction& in, uint32_t mask) {
  if (!members(warp, in, 0, mask)) return;
  warp.synced = SimBlock::tick();
}

std::span<const Opcode> warp_opcodes() { return kOpcodes; }

}  // namespace sinter::runtime::cuda::sim
