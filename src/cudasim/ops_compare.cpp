// Comparisons into predicates, and selection by a predicate.
#include <cmath>
#include <cstring>
#include <type_traits>

#include "cudasim/half.h"
#include "cudasim/type_dispatch.h"

namespace sinter::runtime::cuda::sim {
namespace {

// Ordered comparisons are false for a NaN; the unordered ones, with suffix `u`, are true.
/// Of floats: neither is NaN and they differ.
using OrderedNe = decltype([]<typename T>(T a, T b) -> bool {
  if constexpr (std::is_floating_point_v<T>)
    return a < b || a > b;
  else
    return a != b;
});
using IsOrdered = decltype([](auto a, auto b) { return a == a && b == b; });
template <typename F>
struct Negation {
  bool operator()(auto a, auto b) const { return !F()(a, b); }
};

// Instruction::mode: how the comparison is combined with the third source.
constexpr uint8_t kAlone = 0, kAnd = 1, kOr = 2, kXor = 3;

uint32_t combine(uint8_t mode, uint32_t compared, uint32_t other) {
  switch (mode) {
    case kAnd: return compared & other;
    case kOr: return compared | other;
    case kXor: return compared ^ other;
    default: return compared;
  }
}

void write_predicates(Warp& warp, const Instruction& in, uint32_t mask, uint32_t compared) {
  const uint32_t other = in.mode ? source_predicate(warp, in, 2) : 0;
  assign_predicate(warp, in.result[0], mask, combine(in.mode, compared, other));
  if (in.pair.at) assign_predicate(warp, in.pair, mask, combine(in.mode, ~compared, other));
}

/// A bit for each of the bytes, which are 0 or 1.
uint32_t packed(const uint8_t (&holds)[kLanes]) {
  constexpr uint64_t kGather = 0x0102040810204080;  // moves bit 8 * i to bit 56 + i
  uint32_t bits = 0;
  for (int lane = 0; lane < kLanes; lane += 8) {
    uint64_t eight;
    std::memcpy(&eight, holds + lane, sizeof eight);
    bits |= static_cast<uint32_t>(eight * kGather >> 56) << lane;
  }
  return bits;
}

/// The compiler vectorizes the loop.
template <typename F, typename T>
void compare(Warp& warp, const Instruction& in, uint32_t mask) {
  const T *a = lanes<T>(warp, in.source[0]), *b = lanes<T>(warp, in.source[1]);
  uint8_t holds[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) holds[lane] = F()(a[lane], b[lane]);
  write_predicates(warp, in, mask, packed(holds));
}

template <typename F, const HalfFormat& kFormat>
void compare_half(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint16_t *a = lanes<uint16_t>(warp, in.source[0]), *b = lanes<uint16_t>(warp, in.source[1]);
  uint32_t bits = 0;
  for_lanes(mask, [&](int lane) {
    bits |= static_cast<uint32_t>(F()(half_to_float(a[lane], kFormat), half_to_float(b[lane], kFormat))) << lane;
  });
  write_predicates(warp, in, mask, bits);
}

constexpr TypeList kCompared{NamedType<uint16_t>{"u16"}, NamedType<int16_t>{"s16"}, NamedType<uint16_t>{"b16"},
                             NamedType<uint32_t>{"u32"}, NamedType<int32_t>{"s32"}, NamedType<uint32_t>{"b32"},
                             NamedType<uint64_t>{"u64"}, NamedType<int64_t>{"s64"}, NamedType<uint64_t>{"b64"},
                             NamedType<float>{"f32"},    NamedType<double>{"f64"}};

template <typename F>
TypeMatch pick_compare(std::string_view type) {
  if (type == "f16") return {compare_half<F, kFloat16>, 2};
  if (type == "bf16") return {compare_half<F, kBFloat16>, 2};
  return pick(kCompared, type, []<typename T>() -> WarpFunction { return compare<F, T>; });
}

struct Comparison {
  std::string_view word;
  TypeMatch (*pick)(std::string_view type);
};
constexpr Comparison kComparisons[] = {
    {"eq", pick_compare<std::equal_to<>>},
    {"ne", pick_compare<OrderedNe>},
    {"lt", pick_compare<std::less<>>},
    {"le", pick_compare<std::less_equal<>>},
    {"gt", pick_compare<std::greater<>>},
    {"ge", pick_compare<std::greater_equal<>>},
    {"lo", pick_compare<std::less<>>},
    {"ls", pick_compare<std::less_equal<>>},
    {"hi", pick_compare<std::greater<>>},
    {"hs", pick_compare<std::greater_equal<>>},
    {"num", pick_compare<IsOrdered>},
    {"nan", pick_compare<Negation<IsOrdered>>},
    {"equ", pick_compare<Negation<OrderedNe>>},
    {"neu", pick_compare<Negation<std::equal_to<>>>},
    {"ltu", pick_compare<Negation<std::greater_equal<>>>},
    {"leu", pick_compare<Negation<std::greater<>>>},
    {"gtu", pick_compare<Negation<std::less_equal<>>>},
    {"geu", pick_compare<Negation<std::less<>>>},
};

void decode_setp(Decoder& d) {
  const std::string_view type = d.take_type();
  TypeMatch picked;
  for (const Comparison& row : kComparisons)
    if (d.take(row.word)) {
      picked = row.pick(type);
      break;
    }
  if (!picked.run) d.fail("this comparison is not supported for this type");
  d.out.run = picked.run;
  d.out.mode = static_cast<uint8_t>(d.take_one({"and", "or", "xor"}) + 1);
  d.operands(0, {picked.bytes, picked.bytes});
  if (d.out.mode != kAlone) d.source(2, 0);
}

/// `property`: Instruction::mode of testp, in the order of decode_testp().
template <typename T>
bool has_property(T value, uint8_t property) {
  switch (property) {
    case 0: return std::isfinite(value);
    case 1: return std::isinf(value);
    case 2: return !std::isnan(value);
    case 3: return std::isnan(value);
    case 4: return std::isnormal(value);
    default: return std::fpclassify(value) == FP_SUBNORMAL;
  }
}

template <typename T>
void test_property(Warp& warp, const Instruction& in, uint32_t mask) {
  const T* a = lanes<T>(warp, in.source[0]);
  uint32_t bits = 0;
  for_lanes(mask, [&](int lane) { bits |= static_cast<uint32_t>(has_property(a[lane], in.mode)) << lane; });
  assign_predicate(warp, in.result[0], mask, bits);
}

void decode_testp(Decoder& d) {
  const int bytes = take_function(d, kFloats, []<typename T>() -> WarpFunction { return test_property<T>; });
  const int mode = d.take_one({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  d.out.mode = static_cast<uint8_t>(std::max(mode, 0));
  d.operands(0, {bytes});
}

template <typename T>
void select(Warp& warp, const Instruction& in, uint32_t mask) {
  const T *a = lanes<T>(warp, in.source[0]), *b = lanes<T>(warp, in.source[1]);
  const uint32_t chosen = source_predicate(warp, in, 2);
  assign(lanes<T>(warp, in.result[0]), mask, [&](int lane) { return chosen >> lane & 1 ? a[lane] : b[lane]; });
}

void decode_selp(Decoder& d) {
  d.out.poison_rule = PoisonRule::Bits;
  const int bytes = take_function(d, kCompared, []<typename T>() -> WarpFunction { return select<T>; });
  d.operands(bytes, {bytes, bytes, 0});
}

constexpr Opcode kOpcodes[] = {{"setp", decode_setp}, {"selp", decode_selp}, {"testp", decode_testp}};

}  // namespace

std::span<const Opcode> compare_opcodes() { return kOpcodes; }

}  // namespace sinter::runtime::cuda::sim
