// Bit operations: logic, shifts, counts, bit fields and permutations.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "cudasim/type_dispatch.h"

namespace sinter::runtime::cuda::sim {
namespace {

template <typename T>
constexpr uint32_t kBits = sizeof(T) * 8;

using CNot = decltype([](auto a) { return a == 0; });

// Shift counts of the width and more are defined: all bits are shifted out.
using ShiftLeft =
    decltype([]<typename T>(T a, uint32_t n) -> T { return n >= kBits<T> ? T(0) : static_cast<T>(a << n); });
using ShiftRight = decltype([]<typename T>(T a, uint32_t n) -> T {
  return static_cast<T>(a >> std::min<uint32_t>(n, kBits<T> - 1) >> (n >= kBits<T> ? 1 : 0));
});

template <typename F, typename T>
void shift(Warp& warp, const Instruction& in, uint32_t mask) {
  const T* a = lanes<T>(warp, in.source[0]);
  const uint32_t* n = lanes<uint32_t>(warp, in.source[1]);
  assign(lanes<T>(warp, in.result[0]), mask, [&](int lane) { return F()(a[lane], n[lane]); });
}

template <typename F, typename... Ts>
void decode_shift(Decoder& d, const TypeList<Ts...>& types) {
  const int bytes = take_function(d, types, []<typename T>() -> WarpFunction { return shift<F, T>; });
  d.out.poison_rule = PoisonRule::Bits;
  d.out.full_dependence = 1 << 1;
  d.operands(bytes, {bytes, 4});
}

/// 32 bits of the 64 bits b:a, shifted by n. n is taken modulo 32 or clamped to 32.
template <bool kLeft, bool kWrap>
struct Funnel {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t n) const {
    const uint64_t both = uint64_t{b} << 32 | a;
    n = kWrap ? n & 31 : std::min(n, 32u);
    return static_cast<uint32_t>(kLeft ? both << n >> 32 : both >> n);
  }
};

using PopCount = decltype([](auto a) { return static_cast<uint32_t>(std::popcount(a)); });
using LeadingZeros = decltype([](auto a) { return static_cast<uint32_t>(std::countl_zero(a)); });
/// Position of the highest bit that differs from the sign, counted from the lowest; all ones if there is none.
using FindBit = decltype([]<typename T>(T a) -> uint32_t {
  auto bits = static_cast<std::make_unsigned_t<T>>(a);
  if (std::is_signed_v<T> && a < 0) bits = ~bits;
  return kBits<T> - 1 - static_cast<uint32_t>(std::countl_zero(bits));
});
using Reverse = decltype([]<typename T>(T a) -> T {
  T out = 0;
  for (uint32_t i = 0; i < kBits<T>; ++i) out = static_cast<T>(out << 1 | (a >> i & 1));
  return out;
});

template <typename F>
void decode_count(Decoder& d, const auto& types) {
  const int bytes = take_function(d, types, []<typename T>() -> WarpFunction { return unary<F, T, uint32_t>; });
  d.operands(4, {bytes});
}

/// `length` bits of a from `start` on. Bits beyond are zero, or copies of the field's highest bit if T is signed.
template <typename T>
void extract(Warp& warp, const Instruction& in, uint32_t mask) {
  using U = std::make_unsigned_t<T>;
  const U* a = lanes<U>(warp, in.source[0]);
  const uint32_t *start = lanes<uint32_t>(warp, in.source[1]), *length = lanes<uint32_t>(warp, in.source[2]);
  assign(lanes<U>(warp, in.result[0]), mask, [&](int lane) -> U {
    const uint32_t from = start[lane] & 255, count = length[lane] & 255;
    if (count == 0) return 0;
    const uint32_t inside = from >= kBits<U> ? 0 : std::min(count, kBits<U> - from);
    const U field = inside ? static_cast<U>(a[lane] >> from) : U(0);
    const U keep = inside == kBits<U> ? static_cast<U>(~U(0)) : static_cast<U>((U(1) << inside) - 1);
    const bool ones = std::is_signed_v<T> && a[lane] >> std::min<uint32_t>(from + count - 1, kBits<U> - 1) & 1;
    return static_cast<U>((field & keep) | (ones ? static_cast<U>(~keep) : U(0)));
  });
}

/// Replaces the bits of b from `start` on by the low `length` bits of a.
template <typename T>
void insert(Warp& warp, const Instruction& in, uint32_t mask) {
  const T *a = lanes<T>(warp, in.source[0]), *b = lanes<T>(warp, in.source[1]);
  const uint32_t *start = lanes<uint32_t>(warp, in.source[2]), *length = lanes<uint32_t>(warp, in.source[3]);
  assign(lanes<T>(warp, in.result[0]), mask, [&](int lane) -> T {
    const uint32_t from = start[lane] & 255, count = length[lane] & 255;
    if (from >= kBits<T> || count == 0) return b[lane];
    const T ones = count >= kBits<T> ? static_cast<T>(~T(0)) : static_cast<T>((T(1) << count) - 1);
    const T field = static_cast<T>(ones << from);
    return static_cast<T>((b[lane] & ~field) | (a[lane] << from & field));
  });
}

/// Four bytes selected from the eight of b:a. Bit 3 of a selector replicates the byte's sign bit instead.
struct Permute {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t choices) const {
    const uint64_t both = uint64_t{b} << 32 | a;
    uint32_t out = 0;
    for (int i = 0; i < 4; ++i) {
      const uint32_t choice = choices >> (4 * i) & 15;
      auto byte = static_cast<uint8_t>(both >> (choice & 7) * 8);
      if (choice & 8) byte = byte & 0x80 ? 0xff : 0;
      out |= uint32_t{byte} << (8 * i);
    }
    return out;
  }
};

/// A bit function of three inputs: bit (a, b, c) of the table is the result.
void logic3(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t *a = lanes<uint32_t>(warp, in.source[0]), *b = lanes<uint32_t>(warp, in.source[1]);
  const uint32_t *c = lanes<uint32_t>(warp, in.source[2]), *table = lanes<uint32_t>(warp, in.source[3]);
  assign(lanes<uint32_t>(warp, in.result[0]), mask, [&](int lane) {
    uint32_t out = 0;
    for (uint32_t row = 0; row < 8; ++row)
      if (table[lane] >> row & 1)
        out |= (row & 4 ? a[lane] : ~a[lane]) & (row & 2 ? b[lane] : ~b[lane]) & (row & 1 ? c[lane] : ~c[lane]);
    return out;
  });
}

constexpr TypeList kBitWords{NamedType<uint16_t>{"b16"}, NamedType<uint32_t>{"b32"}, NamedType<uint64_t>{"b64"}};
constexpr TypeList kCounted{NamedType<uint32_t>{"b32"}, NamedType<uint64_t>{"b64"}};
constexpr TypeList kFields{NamedType<uint32_t>{"u32"}, NamedType<int32_t>{"s32"}, NamedType<uint64_t>{"u64"},
                           NamedType<int64_t>{"s64"}};
constexpr TypeList kShifted{NamedType<uint16_t>{"b16"}, NamedType<uint32_t>{"b32"}, NamedType<uint64_t>{"b64"},
                            NamedType<uint16_t>{"u16"}, NamedType<uint32_t>{"u32"}, NamedType<uint64_t>{"u64"},
                            NamedType<int16_t>{"s16"},  NamedType<int32_t>{"s32"},  NamedType<int64_t>{"s64"}};

// A predicate has one bit per lane, so its logic is one operation on the word.
template <typename F>
void predicate_binary(Warp& warp, const Instruction& in, uint32_t mask) {
  assign_predicate(warp, in.result[0], mask, F()(predicate(warp, in.source[0]), predicate(warp, in.source[1])));
}
void predicate_not(Warp& warp, const Instruction& in, uint32_t mask) {
  assign_predicate(warp, in.result[0], mask, ~predicate(warp, in.source[0]));
}

template <typename F>
void decode_logic(Decoder& d) {
  d.out.poison_rule = PoisonRule::Bits;
  if (!d.take("pred")) return decode_binary<F>(d, kBitWords);
  d.out.run = predicate_binary<F>;
  d.operands(0, {0, 0});
}

void decode_not(Decoder& d) {
  d.out.poison_rule = PoisonRule::Bits;
  if (!d.take("pred")) return decode_unary<std::bit_not<>>(d, kBitWords);
  d.out.run = predicate_not;
  d.operands(0, {0});
}

void decode_funnel(Decoder& d) {
  const bool left = d.take("l"), wrap = d.take("wrap");
  if (!left && !d.take("r")) d.fail("a funnel shift goes to .l or .r");
  if (!wrap && !d.take("clamp")) d.fail("a funnel shift has .wrap or .clamp");
  d.take("b32");
  d.out.poison_rule = PoisonRule::Bits;
  d.out.full_dependence = 1 << 2;
  d.out.run = left ? (wrap ? ternary<Funnel<true, true>, uint32_t> : ternary<Funnel<true, false>, uint32_t>)
                   : (wrap ? ternary<Funnel<false, true>, uint32_t> : ternary<Funnel<false, false>, uint32_t>);
  d.operands(4, {4, 4, 4});
}

void decode_extract(Decoder& d) {
  const int bytes = take_function(d, kFields, []<typename T>() -> WarpFunction { return extract<T>; });
  d.out.poison_rule = PoisonRule::Bits;
  d.out.full_dependence = 1 << 1 | 1 << 2;
  d.operands(bytes, {bytes, 4, 4});
}

void decode_insert(Decoder& d) {
  const int bytes = take_function(d, kCounted, []<typename T>() -> WarpFunction { return insert<T>; });
  d.out.poison_rule = PoisonRule::Bits;
  d.out.full_dependence = 1 << 2 | 1 << 3;
  d.operands(bytes, {bytes, bytes, 4, 4});
}

void decode_permute(Decoder& d) {
  d.take("b32");
  d.out.poison_rule = PoisonRule::Bits;
  d.out.full_dependence = 1 << 2;
  d.out.run = ternary<Permute, uint32_t>;
  d.operands(4, {4, 4, 4});
}

void decode_logic3(Decoder& d) {
  d.take("b32");
  d.out.poison_rule = PoisonRule::Bits;
  d.out.full_dependence = 1 << 3;
  d.out.run = logic3;
  d.operands(4, {4, 4, 4, 4});
}

constexpr Opcode kOpcodes[] = {
    {"and", decode_logic<std::bit_and<>>},
    {"or", decode_logic<std::bit_or<>>},
    {"xor", decode_logic<std::bit_xor<>>},
    {"not", decode_not},
    {"cnot", [](Decoder& d) { decode_unary<CNot>(d, kBitWords); }},
    {"shl", [](Decoder& d) { decode_shift<ShiftLeft>(d, kBitWords); }},
    {"shr", [](Decoder& d) { decode_shift<ShiftRight>(d, kShifted); }},
    {"shf", decode_funnel},
    {"popc", [](Decoder& d) { decode_count<PopCount>(d, kCounted); }},
    {"clz", [](Decoder& d) { decode_count<LeadingZeros>(d, kCounted); }},
    {"bfind", [](Decoder& d) { decode_count<FindBit>(d, kFields); }},
    {"brev",
     [](Decoder& d) {
       d.out.poison_rule = PoisonRule::Bits;
       decode_unary<Reverse>(d, kCounted);
     }},
    {"bfe", decode_extract},
    {"bfi", decode_insert},
    {"prmt", decode_permute},
    {"lop3", decode_logic3},
};

}  // namespace

std::span<const Opcode> bit_opcodes() { return kOpcodes; }

}  // namespace sinter::runtime::cuda::sim
