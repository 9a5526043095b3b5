// Comparisons into predicates, and selection by a predicate.
#include <cmath>
#include <cstring>
#include <type_traits>

#include "cudasim/half.h"
#include "cudasim/type_dispatch.h"

namespace sinter::runtime::cuda::sim {
namespace {

// Ordered comparisons are false for a NaN; the unordered ones, with suffix `u`, are true.
struct OrderedEq {
  template <typename T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct OrderedNe {  // for floats: neither is NaN and they differ
  template <typename T>
  bool operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a < b || a > b;
    else
      return a != b;
  }
};
struct OrderedLt {
  template <typename T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct OrderedLe {
  template <typename T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct OrderedGt {
  template <typename T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct OrderedGe {
  template <typename T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
struct IsOrdered {
  template <typename T>
  bool operator()(T a, T b) const {
    return a == a && b == b;
  }
};
template <typename F>
struct Negation {
  template <typename T>
  bool operator()(T a, T b) const {
    return !F()(a, b);
  }
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
  const uint32_t other = in.mode ? predicate(warp, in.source[2]) ^ in.source_flip : 0;
  uint32_t& to = predicate(warp, in.result[0]);
  to = (to & ~mask) | (combine(in.mode, compared, other) & mask);
  if (!in.pair.at) return;
  uint32_t& inverse = predicate(warp, in.pair);
  inverse = (inverse & ~mask) | (combine(in.mode, ~compared, other) & mask);
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
    {"eq", pick_compare<OrderedEq>},
    {"ne", pick_compare<OrderedNe>},
    {"lt", pick_compare<OrderedLt>},
    {"le", pick_compare<OrderedLe>},
    {"gt", pick_compare<OrderedGt>},
    {"ge", pick_compare<OrderedGe>},
    {"lo", pick_compare<OrderedLt>},
    {"ls", pick_compare<OrderedLe>},
    {"hi", pick_compare<OrderedGt>},
    {"hs", pick_compare<OrderedGe>},
    {"num", pick_compare<IsOrdered>},
    {"nan", pick_compare<Negation<IsOrdered>>},
    {"equ", pick_compare<Negation<OrderedNe>>},
    {"neu", pick_compare<Negation<OrderedEq>>},
    {"ltu", pick_compare<Negation<OrderedGe>>},
    {"leu", pick_compare<Negation<OrderedGt>>},
    {"gtu", pick_compare<Negation<OrderedLe>>},
    {"geu", pick_compare<Negation<OrderedLt>>},
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
  constexpr std::string_view kJoins[] = {"and", "or", "xor"};
  for (uint8_t i = 0; i < 3; ++i)
    if (d.take(kJoins[i])) d.out.mode = static_cast<uint8_t>(i + 1);
  d.result(0);
  d.source(0, picked.bytes);
  d.source(1, picked.bytes);
  if (d.out.mode != kAlone) d.source(2, 0);
}

// Instruction::mode of testp, in the order of kProperties.
constexpr std::string_view kProperties[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};

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
  uint32_t& to = predicate(warp, in.result[0]);
  to = (to & ~mask) | bits;
}

void decode_testp(Decoder& d) {
  const TypeMatch picked = pick(kFloats, d.take_type(), []<typename T>() -> WarpFunction { return test_property<T>; });
  for (size_t i = 0; i < std::size(kProperties); ++i)
    if (d.take(kProperties[i])) d.out.mode = static_cast<uint8_t>(i);
  d.out.run = picked.run;
  d.result(0);
  d.source(0, picked.bytes);
}

template <typename T>
void select(Warp& warp, const Instruction& in, uint32_t mask) {
  const T *a = lanes<T>(warp, in.source[0]), *b = lanes<T>(warp, in.source[1]);
  const uint32_t chosen = predicate(warp, in.source[2]) ^ in.source_flip;
  assign(lanes<T>(warp, in.result[0]), mask, [&](int lane) { return chosen >> lane & 1 ? a[lane] : b[lane]; });
}

void decode_selp(Decoder& d) {
  d.out.poison_rule = PoisonRule::Bits;
  const std::string_view type = d.take_type();
  const TypeMatch picked = pick(kCompared, type, []<typename T>() -> WarpFunction { return select<T>; });
  if (!picked.run) d.fail("this type is not supported here");
  d.out.run = picked.run;
  d.result(picked.bytes);
  d.source(0, picked.bytes);
  d.source(1, picked.bytes);
  d.source(2, 0);
}

constexpr Opcode kOpcodes[] = {{"setp", decode_setp}, {"selp", decode_selp}, {"testp", decode_testp}};

}  // namespace

std::span<const Opcode> compare_opcodes() { return kOpcodes; }

}  // namespace sinter::runtime::cuda::sim
