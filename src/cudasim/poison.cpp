#include "cudasim/poison.h"

#include <fmt/core.h>

#include <array>

#include "cudasim/launch.h"
#include "cudasim/warp_lanes.h"

namespace sinter::runtime::cuda::sim {
namespace {

constexpr int kResults = 5;
std::array<RegisterSlot, kResults> results(const Instruction& in) {
  return {in.result[0], in.result[1], in.result[2], in.result[3], in.pair};
}

/// Unknown bits per result and lane.
using Bits = std::array<std::array<uint64_t, kLanes>, kResults>;

constexpr uint64_t low_bytes(int bytes) { return bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1; }

/// A lane's value in a register file; a predicate is 0 or 1.
uint64_t lane_value(const std::byte* file, RegisterSlot slot, int lane) {
  uint64_t value = 0;
  if (slot.bytes) {
    std::memcpy(&value, file + slot.at + lane * slot.bytes, slot.bytes);
    return value;
  }
  std::memcpy(&value, file + slot.at, sizeof(uint32_t));
  return value >> lane & 1;
}

void put_lane_value(std::byte* file, RegisterSlot slot, int lane, uint64_t value) {
  if (slot.bytes) {
    std::memcpy(file + slot.at + lane * slot.bytes, &value, slot.bytes);
    return;
  }
  uint32_t word;
  std::memcpy(&word, file + slot.at, sizeof word);
  word = (word & ~(1u << lane)) | static_cast<uint32_t>(value & 1) << lane;
  std::memcpy(file + slot.at, &word, sizeof word);
}

/// The union over all sources, in the lanes of `mask`.
Poison sources(Warp& warp, const Instruction& in, uint32_t mask) {
  Poison all;
  for (const RegisterSlot slot : in.source) {
    const Poison& one = poison(warp, slot);
    if (one.lanes & mask) all = {all.lanes | (one.lanes & mask), one.origin};
  }
  return all;
}

/// The union of the unknown bits of all sources in a lane, limited to the bytes that the instruction reads.
uint64_t union_of_unknown(Warp& warp, const Instruction& in, int lane) {
  uint64_t all = 0;
  for (const RegisterSlot slot : in.source) all |= unknown_bits(warp, slot, lane);
  return all & low_bytes(in.width);
}

/// Each result bit depends on at most one bit of each source, so it is unknown if it changes when those bits do. The
/// instruction is executed on a scratch register file with the unknown bits of its sources flipped in all combinations.
Bits changed_bits(Warp& warp, const Instruction& in, uint32_t lanes) {
  constexpr uint32_t kEach = kLanes * sizeof(uint64_t), kSources = 4;
  alignas(64) std::byte file[(1 + kSources + kResults) * kEach] = {};
  Instruction trial_in = in;
  Warp trial;
  trial.registers = file;
  trial.block = warp.block;
  uint32_t at = 0;
  std::array<int, kSources> unknown{};
  uint32_t count = 0;
  for (int i = 0; i < static_cast<int>(kSources); ++i) {
    const RegisterSlot from = in.source[i];
    trial_in.source[i].at = at += kEach;
    std::memcpy(file + at, warp.registers + from.at, lane_bytes(from));
    if (poison(warp, from).lanes & lanes) unknown[count++] = i;
  }
  for (RegisterSlot& slot : trial_in.result) slot.at = at += kEach;
  if (in.pair.at) trial_in.pair.at = at += kEach;
  const auto slots = results(trial_in);
  const auto value = [&](int r, int lane) { return lane_value(file, slots[r], lane); };
  Bits first{}, changed{};
  in.run(trial, trial_in, lanes);
  for (int r = 0; r < kResults; ++r) for_lanes(lanes, [&](int lane) { first[r][lane] = value(r, lane); });
  for (uint32_t iteration = 1; iteration < 1u << count; ++iteration) {  // Gray code: one source changes per iteration
    const int i = unknown[std::countr_zero(iteration)];
    for_lanes(lanes & poison(warp, in.source[i]).lanes, [&](int lane) {
      const RegisterSlot slot = trial_in.source[i];
      put_lane_value(file, slot, lane, lane_value(file, slot, lane) ^ unknown_bits(warp, in.source[i], lane));
    });
    in.run(trial, trial_in, lanes);
    for (int r = 0; r < kResults; ++r)
      for_lanes(lanes, [&](int lane) { changed[r][lane] |= value(r, lane) ^ first[r][lane]; });
  }
  for (int i = 0; i < static_cast<int>(kSources); ++i)
    if (in.full_dependence >> i & 1)
      for_lanes(lanes & poison(warp, in.source[i]).lanes, [&](int lane) {
        for (auto& result : changed) result[lane] = ~uint64_t{0};
      });
  return changed;
}

/// The unknown bits of the results, if the sources have unknown bits in these lanes and none of them must be known.
Bits unknown_results(Warp& warp, const Instruction& in, uint32_t lanes) {
  if (in.poison_rule == PoisonRule::Bits) return changed_bits(warp, in, lanes);
  Bits bits{};
  for_lanes(lanes, [&](int lane) {
    const uint64_t all = union_of_unknown(warp, in, lane);
    uint64_t out = all ? ~uint64_t{0} : 0;
    if (in.poison_rule == PoisonRule::Carries) out = all | (0 - all);
    if (in.poison_rule == PoisonRule::Halves)
      out = (unknown_bits(warp, in.source[0], lane) ? 0xffff0000u : 0u) |
            (unknown_bits(warp, in.source[1], lane) ? 0xffffu : 0u);
    for (auto& result : bits) result[lane] = out;
  });
  return bits;
}

/// The unknown results of mma.sync: sources 0 to 3 are A, 4 and 5 B, 6 to 9 C. Four adjacent lanes hold a row of A, and
/// that row plus 8, or a column of B.
Bits unknown_tile(Warp& warp, const Instruction& in) {
  const auto any = [&](int first, int second, int quad) {
    return ((poison(warp, in.source[first]).lanes | poison(warp, in.source[second]).lanes) >> 4 * quad & 0xf) != 0;
  };
  Bits bits{};
  for (int lane = 0; lane < static_cast<int>(kLanes); ++lane)
    for (int r = 0; r < 4; ++r) {
      const bool own = poison(warp, in.source[6 + r]).lanes >> lane & 1;
      if (own || any(r / 2, 2 + r / 2, lane / 4) || any(4, 5, lane % 4 * 2 + r % 2)) bits[r][lane] = ~uint64_t{0};
    }
  return bits;
}

void write_results(Warp& warp, const Instruction& in, uint32_t mask, const Poison& all, const Bits& bits) {
  const auto slots = results(in);
  for (int r = 0; r < kResults; ++r) {
    if (!slots[r].at) continue;
    poison(warp, slots[r]).lanes &= ~mask;
    for_lanes(all.lanes, [&](int lane) { add_unknown(warp, slots[r], lane, bits[r][lane], all.origin); });
  }
}

void must_be_known(Warp& warp, const Poison& found, uint32_t mask, const char* what) {
  if (found.lanes & mask) report_poison(warp, found.origin, std::countr_zero(found.lanes & mask), what);
}

}  // namespace

uint64_t unknown_bits(Warp& warp, RegisterSlot slot, int lane) {
  return poison(warp, slot).lanes >> lane & 1 ? lane_value(warp.shadow.get(), slot, lane) : 0;
}

void add_unknown(Warp& warp, RegisterSlot slot, int lane, uint64_t bits, uint32_t origin) {
  bits &= slot.bytes ? low_bytes(slot.bytes) : 1;
  if (!bits) return;
  if (!warp.shadow) warp.shadow = make_zeroed<std::byte>(warp.block->kernel.registers.size());
  put_lane_value(warp.shadow.get(), slot, lane, unknown_bits(warp, slot, lane) | bits);
  Poison& found = poison(warp, slot);
  found = {found.lanes | 1u << lane, origin};
}

void report_poison(Warp& warp, uint32_t origin, int lane, const char* what) {
  const SimBlock& block = *warp.block;
  const auto where = block.unwritten.find(origin);
  fail(warp, lane, CudaResult::LaunchFailed,
       fmt::format("{} depends on {}, which nothing has written and {} has read: uninitialized", what,
                   where == block.unwritten.end() ? "memory" : where->second, place_of(block.kernel, origin)));
}

void follow_poison(Warp& warp, const Instruction& in, uint32_t mask) {
  must_be_known(warp, poison(warp, in.guard), warp.active, "whether this is done");
  Poison all = sources(warp, in, mask);
  switch (in.poison_rule) {
    case PoisonRule::Load:
    case PoisonRule::Store: must_be_known(warp, all, mask, "the address"); break;
    case PoisonRule::MustBeKnown: must_be_known(warp, all, mask, "what this does"); break;
    case PoisonRule::Shuffle:
      for (const int i : {1, 2, 3}) must_be_known(warp, poison(warp, in.source[i]), mask, "which lane is read");
      return;  // handled by shuffle_poison()
    case PoisonRule::AllLanes:
    case PoisonRule::Tile:
      if (all.lanes) all.lanes = mask;
      break;
    default: break;
  }
  if (in.poison_rule == PoisonRule::Store) return;
  Bits bits{};
  if (in.poison_rule == PoisonRule::AllLanes)
    for (auto& result : bits) result.fill(~uint64_t{0});
  else if (all.lanes)
    bits = in.poison_rule == PoisonRule::Tile ? unknown_tile(warp, in) : unknown_results(warp, in, all.lanes);
  write_results(warp, in, mask, all, bits);
}

void shuffle_poison(Warp& warp, const Instruction& in, uint32_t mask, const int* from) {
  const Poison before = poison(warp, in.source[0]);
  Bits bits{};
  for_lanes(mask, [&](int lane) { bits[0][lane] = unknown_bits(warp, in.source[0], from[lane]); });
  write_results(warp, in, mask, {mask, before.origin}, bits);
}

}  // namespace sinter::runtime::cuda::sim
