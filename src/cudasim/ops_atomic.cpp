// atom and red: lanes run one after another; each read-modify-write is done at once.
#include <algorithm>

#include "cudasim/lane_access.h"
#include "cudasim/type_dispatch.h"

namespace sinter::runtime::cuda::sim {
namespace {

using AtomicExchange = decltype([](auto, auto b) { return b; });
// Increment wraps from b to 0, decrement from 0 to b.
using AtomicIncrement = decltype([]<typename T>(T old, T b) -> T { return old >= b ? T(0) : old + 1; });
using AtomicDecrement = decltype([](auto old, auto b) { return old == 0 || old > b ? b : old - 1; });

/// Replaces the value at each lane's address by `new_value(lane, old)`. The old value goes to the result, if there is
/// one. A lane that does not write, by `writes(lane, old)`, releases nothing.
template <typename T, typename F>
void atomic(Warp& warp, const Instruction& in, uint32_t mask, F&& new_value, auto&& writes) {
  LaneAccess<sizeof(T), AccessKind::Atomic> access(warp, in);
  for_lanes(mask, [&](int lane) {
    std::byte* data = access(lane);
    T old;
    std::memcpy(&old, data, sizeof old);
    const T next = new_value(lane, old);
    std::memcpy(data, &next, sizeof next);
    if (in.result[0].at) lanes<T>(warp, in.result[0])[lane] = old;
    if (warp.block->kernel.has_fences && access.is_global() && !in.block_scope)
      warp.block->order.atomic(warp, lane, access.address(lane), in.result[0].at != 0, writes(lane, old));
  });
  access.count();
  warp.block->counters.atomics += static_cast<uint64_t>(std::popcount(mask));
}

template <typename F, typename T>
void update(Warp& warp, const Instruction& in, uint32_t mask) {
  atomic<T>(
      warp, in, mask, [&](int lane, T old) { return F()(old, lanes<T>(warp, in.source[1])[lane]); },
      [](int, T) { return true; });
}

template <typename T>
void compare_and_swap(Warp& warp, const Instruction& in, uint32_t mask) {
  const auto same = [&](int lane, T old) { return old == lanes<T>(warp, in.source[1])[lane]; };
  atomic<T>(
      warp, in, mask, [&](int lane, T old) { return same(lane, old) ? lanes<T>(warp, in.source[2])[lane] : old; },
      same);
}

constexpr TypeList kSums{NamedType<uint32_t>{"u32"}, NamedType<uint32_t>{"s32"}, NamedType<uint64_t>{"u64"},
                         NamedType<uint64_t>{"s64"}, NamedType<float>{"f32"},    NamedType<double>{"f64"}};
constexpr TypeList kOrdered{NamedType<uint32_t>{"u32"}, NamedType<int32_t>{"s32"}, NamedType<uint64_t>{"u64"},
                            NamedType<int64_t>{"s64"}};
constexpr TypeList kBitWords{NamedType<uint32_t>{"b32"}, NamedType<uint64_t>{"b64"}};
constexpr TypeList kSwapped{NamedType<uint16_t>{"b16"}, NamedType<uint32_t>{"b32"}, NamedType<uint64_t>{"b64"}};
constexpr TypeList kCounts{NamedType<uint32_t>{"u32"}};

template <typename F>
TypeMatch pick_update(const auto& types, std::string_view type) {
  return pick(types, type, []<typename T>() -> WarpFunction { return update<F, T>; });
}

struct AtomicRow {
  std::string_view word;
  TypeMatch (*pick)(std::string_view type);
  int sources = 1;
};
constexpr AtomicRow kAtomics[] = {
    {"add", [](std::string_view type) { return pick_update<std::plus<>>(kSums, type); }},
    {"min", [](std::string_view type) { return pick_update<Min>(kOrdered, type); }},
    {"max", [](std::string_view type) { return pick_update<Max>(kOrdered, type); }},
    {"and", [](std::string_view type) { return pick_update<std::bit_and<>>(kBitWords, type); }},
    {"or", [](std::string_view type) { return pick_update<std::bit_or<>>(kBitWords, type); }},
    {"xor", [](std::string_view type) { return pick_update<std::bit_xor<>>(kBitWords, type); }},
    {"exch", [](std::string_view type) { return pick_update<AtomicExchange>(kSwapped, type); }},
    {"inc", [](std::string_view type) { return pick_update<AtomicIncrement>(kCounts, type); }},
    {"dec", [](std::string_view type) { return pick_update<AtomicDecrement>(kCounts, type); }},
    {"cas",
     [](std::string_view type) {
       return pick(kSwapped, type, []<typename T>() -> WarpFunction { return compare_and_swap<T>; });
     },
     2},
};

template <bool kHasResult>
void decode_atomic(Decoder& d) {
  d.out.poison_rule = PoisonRule::MustBeKnown;
  d.take_space();
  const std::string_view type = d.take_type();
  for (const AtomicRow& row : kAtomics) {
    if (!d.take(row.word)) continue;
    const TypeMatch picked = row.pick(type);
    if (!picked.run) break;
    d.out.run = picked.run;
    if (kHasResult) d.result(picked.bytes);
    d.address();
    for (int i = 1; i <= row.sources; ++i) d.source(i, picked.bytes);
    return;
  }
  d.fail("this operation is not supported for this type");
}

constexpr Opcode kOpcodes[] = {{"atom", decode_atomic<true>}, {"red", decode_atomic<false>}};

}  // namespace

std::span<const Opcode> atomic_opcodes() { return kOpcodes; }

}  // namespace sinter::runtime::cuda::sim
