// Comparisons into predicates, and choices by one.
#include <cmath>
#include <type_traits>

#include "cudasim/half.h"
#include "cudasim/type_dispatch.h"

namespace sinter::runtime::cuda::sim {
namespace {

// The ordered comparisons are false on a NaN, those with a `u` behind are true.
struct Eq {
  template <typename T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct Ne {  // of floats: both are numbers and differ
  template <typename T>
  bool operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a < b || a > b;
    else
      return a != b;
  }
};
struct Lt {
  template <typename T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct Le {
  template <typename T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Gt {
  template <typename T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct Ge {
  template <typename T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
struct Numbers {
  template <typename T>
  bool operator()(T a, T b) const {
    return a == a && b == b;
  }
};
template <typename F>
struct Not {
  template <typename T>
  bool operator()(T a, T b) const {
    return !F()(a, b);
  }
};

// Instruction::mode: how the comparison and the third source meet.
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

template <typename F, typename T>
void compare(Warp& warp, const Instruction& in, uint32_t mask) {
  const T *a = lanes<T>(warp, in.source[0]), *b = lanes<T>(warp, in.source[1]);
  uint32_t bits = 0;
  for (int lane = 0; lane < kLanes; ++lane) bits |= static_cast<uint32_t>(F()(a[lane], b[lane])) << lane;
  write_predicates(warp, in, mask, bits);
}

template <typename F, const HalfFormat& kFormat>
void compare_half(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint16_t *a = lanes<uint16_t>(warp, in.source[0]), *b = lanes<uint16_t>(warp, in.source[1]);
  uint32_t bits = 0;
  for_lanes(mask, [&](int lane) {
    bits |= static_cast<uint32_t>(F()(widen(a[lane], kFormat), widen(b[lane], kFormat))) << lane;
  });
  write_predicates(warp, in, mask, bits);
}

constexpr Types kCompared{Named<uint16_t>{"u16"}, Named<int16_t>{"s16"}, Named<uint16_t>{"b16"},
                          Named<uint32_t>{"u32"}, Named<int32_t>{"s32"}, Named<uint32_t>{"b32"},
                          Named<uint64_t>{"u64"}, Named<int64_t>{"s64"}, Named<uint64_t>{"b64"},
                          Named<float>{"f32"},    Named<double>{"f64"}};

template <typename F>
Picked pick_compare(std::string_view type) {
  if (type == "f16") return {compare_half<F, kFloat16>, 2};
  if (type == "bf16") return {compare_half<F, kBFloat16>, 2};
  return pick(kCompared, type, []<typename T>() -> Run { return compare<F, T>; });
}

struct Comparison {
  std::string_view word;
  Picked (*pick)(std::string_view type);
};
constexpr Comparison kComparisons[] = {
    {"eq", pick_compare<Eq>},       {"ne", pick_compare<Ne>},       {"lt", pick_compare<Lt>},
    {"le", pick_compare<Le>},       {"gt", pick_compare<Gt>},       {"ge", pick_compare<Ge>},
    {"lo", pick_compare<Lt>},       {"ls", pick_compare<Le>},       {"hi", pick_compare<Gt>},
    {"hs", pick_compare<Ge>},       {"num", pick_compare<Numbers>}, {"nan", pick_compare<Not<Numbers>>},
    {"equ", pick_compare<Not<Ne>>}, {"neu", pick_compare<Not<Eq>>}, {"ltu", pick_compare<Not<Ge>>},
    {"leu", pick_compare<Not<Gt>>}, {"gtu", pick_compare<Not<Le>>}, {"geu", pick_compare<Not<Lt>>},
};

void decode_setp(Decoder& d) {
  const std::string_view type = d.take_type();
  Picked picked;
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
  const Picked picked = pick(kFloats, d.take_type(), []<typename T>() -> Run { return test_property<T>; });
  for (uint8_t i = 0; i < std::size(kProperties); ++i)
    if (d.take(kProperties[i])) d.out.mode = i;
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
  d.out.use = Use::Bits;
  const std::string_view type = d.take_type();
  const Picked picked = pick(kCompared, type, []<typename T>() -> Run { return select<T>; });
  if (!picked.run) d.fail("this type is not supported here");
  d.out.run = picked.run;
  d.result(picked.bytes);
  d.source(0, picked.bytes);
  d.source(1, picked.bytes);
  d.source(2, 0);
}

constexpr Opcode kRows[] = {{"setp", decode_setp}, {"selp", decode_selp}, {"testp", decode_testp}};

}  // namespace

std::span<const Opcode> compare_opcodes() { return kRows; }

}  // namespace sinter::runtime::cuda::sim
