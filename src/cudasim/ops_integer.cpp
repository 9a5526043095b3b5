// Integer arithmetic. Results wrap. As on the device, a division by zero gives all
// ones, and its remainder is the dividend.
#include <algorithm>
#include <type_traits>

#include "cudasim/type_dispatch.h"

namespace sinter::runtime::cuda::sim {
namespace {

template <typename T>
using Twice =
    std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
                       std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                                          std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

template <typename T>
constexpr int kBits = static_cast<int>(sizeof(T)) * 8;

// Unsigned arithmetic wraps. 16-bit operands would be promoted to int, whose product may overflow.
using MulLow = decltype([]<typename T>(T a, T b) -> T { return static_cast<T>(static_cast<Twice<T>>(a) * b); });
using MulHigh =
    decltype([]<typename T>(T a, T b) -> T { return static_cast<T>((static_cast<Twice<T>>(a) * b) >> kBits<T>); });
using MulWide = decltype([]<typename T>(T a, T b) -> Twice<T> { return static_cast<Twice<T>>(a) * b; });
using MadLow = decltype([]<typename T>(T a, T b, T c) -> T { return static_cast<T>(MulLow()(a, b) + c); });
using MadHigh = decltype([]<typename T>(T a, T b, T c) -> T {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(MulHigh()(a, b)) + static_cast<U>(c));
});
using MadWide = decltype([]<typename T>(T a, T b, Twice<T> c) -> Twice<T> {
  using U = std::make_unsigned_t<Twice<T>>;
  return static_cast<Twice<T>>(static_cast<U>(MulWide()(a, b)) + static_cast<U>(c));
});
using IntDiv = decltype([]<typename T>(T a, T b) -> T {
  if (b == 0) return static_cast<T>(-1);
  if (std::is_signed_v<T> && b == static_cast<T>(-1))
    return static_cast<T>(std::make_unsigned_t<T>(0) - static_cast<std::make_unsigned_t<T>>(a));
  return static_cast<T>(a / b);
});
using IntRem = decltype([]<typename T>(T a, T b) -> T {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
});
using IntAbs = decltype([]<typename T>(T a) -> T {
  return a < 0 ? static_cast<T>(std::make_unsigned_t<T>(0) - static_cast<std::make_unsigned_t<T>>(a)) : a;
});
/// c + |a - b|.
using DifferenceSum = decltype([]<typename T>(T a, T b, T c) -> T {
  using U = std::make_unsigned_t<T>;
  const U distance = a > b ? static_cast<U>(a) - static_cast<U>(b) : static_cast<U>(b) - static_cast<U>(a);
  return static_cast<T>(static_cast<U>(c) + distance);
});

// Instruction::mode of sums with a carry.
constexpr uint8_t kSubtract = 1, kTakesCarry = 2;

/// One word of a multi-word sum or difference, with the carry from the word below.
template <typename T>
void add_with_carry(Warp& warp, const Instruction& in, uint32_t mask) {
  const T *a = lanes<T>(warp, in.source[0]), *b = lanes<T>(warp, in.source[1]);
  T* to = lanes<T>(warp, in.result[0]);
  const uint32_t before = in.mode & kTakesCarry ? predicate(warp, in.source[2]) : 0;
  uint32_t after = 0;
  for_lanes(mask, [&](int lane) {
    const T x = a[lane], y = b[lane], carry = before >> lane & 1;
    const bool down = in.mode & kSubtract;
    const T sum = down ? x - y : x + y, result = down ? sum - carry : sum + carry;
    const bool out = down ? x < y || sum < carry : sum < x || result < sum;
    after |= static_cast<uint32_t>(out) << lane;
    to[lane] = result;
  });
  if (in.pair.at) assign_predicate(warp, in.pair, mask, after);
}

void decode_carry(Decoder& d, bool subtract, bool takes, bool gives) {
  d.out.mode = static_cast<uint8_t>((subtract ? kSubtract : 0) | (takes ? kTakesCarry : 0));
  if (takes) d.out.source[2] = d.carry();
  if (gives) d.out.pair = d.carry();
  decode_same(d, 2, kWords, []<typename T>() -> WarpFunction {
    if constexpr (sizeof(T) >= 4) return add_with_carry<T>;
    return nullptr;
  });
}

constexpr TypeList kSigned{NamedType<int16_t>{"s16"}, NamedType<int32_t>{"s32"}, NamedType<int64_t>{"s64"}};
constexpr TypeList kNarrow{NamedType<uint16_t>{"u16"}, NamedType<int16_t>{"s16"}, NamedType<uint32_t>{"u32"},
                           NamedType<int32_t>{"s32"}};

/// An instruction in which no result bit depends on higher source bits.
template <typename F, int kSources>
void decode_carrying(Decoder& d) {
  d.out.poison_rule = PoisonRule::Carries;
  decode_same(d, kSources, kWords, []<typename T>() -> WarpFunction { return lanewise<F, T, kSources>(); });
}

void decode_add(Decoder& d) { d.take("cc") ? decode_carry(d, false, false, true) : decode_carrying<std::plus<>, 2>(d); }
void decode_sub(Decoder& d) { d.take("cc") ? decode_carry(d, true, false, true) : decode_carrying<std::minus<>, 2>(d); }

/// .lo, .hi and .wide select the part of the product.
void decode_mul(Decoder& d) {
  if (d.take("hi")) return decode_binary<MulHigh>(d, kIntegers);
  if (d.take("lo")) return decode_carrying<MulLow, 2>(d);
  if (!d.take("wide")) d.fail("a product of integers is .hi, .lo or .wide");
  const int bytes =
      take_function(d, kNarrow, []<typename T>() -> WarpFunction { return binary<MulWide, T, Twice<T>>; });
  d.operands(bytes * 2, {bytes, bytes});
}

void decode_mad(Decoder& d) {
  if (d.take("hi")) return decode_ternary<MadHigh>(d, kIntegers);
  if (d.take("lo")) return decode_carrying<MadLow, 3>(d);
  if (!d.take("wide")) d.fail("a product of integers is .hi, .lo or .wide");
  const int bytes =
      take_function(d, kNarrow, []<typename T>() -> WarpFunction { return ternary<MadWide, T, Twice<T>, Twice<T>>; });
  d.operands(bytes * 2, {bytes, bytes, bytes * 2});
}

/// c plus the dot product of the parts of a (two halves or four bytes) with bytes of b, from byte `kFirst` on.
template <typename PartA, typename PartB, int kFirst>
struct Dot {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (int i = 0; i < 4 / static_cast<int>(sizeof(PartA)); ++i) {
      const auto x = static_cast<PartA>(a >> (i * kBits<PartA>));
      const auto y = static_cast<PartB>(b >> ((kFirst + i) * kBits<PartB>));
      c += static_cast<uint32_t>(int32_t{x} * int32_t{y});
    }
    return c;
  }
};

template <typename Unsigned, int kFirst>
void decode_dot(Decoder& d) {
  using Signed = std::make_signed_t<Unsigned>;
  const bool b = d.take_type() == "s32", a = d.take_type() == "s32";  // signed
  d.out.run = a   ? b ? ternary<Dot<Signed, int8_t, kFirst>, uint32_t> : ternary<Dot<Signed, uint8_t, kFirst>, uint32_t>
                : b ? ternary<Dot<Unsigned, int8_t, kFirst>, uint32_t>
                  : ternary<Dot<Unsigned, uint8_t, kFirst>, uint32_t>;
  d.operands(4, {4, 4, 4});
}

void decode_dp2a(Decoder& d) {
  if (d.take("hi")) return decode_dot<uint16_t, 2>(d);
  d.take("lo");
  decode_dot<uint16_t, 0>(d);
}

constexpr Opcode kOpcodes[] = {
    {"add", decode_add, OpcodeTypes::Integers},
    {"sub", decode_sub, OpcodeTypes::Integers},
    {"mul", decode_mul, OpcodeTypes::Integers},
    {"mad", decode_mad, OpcodeTypes::Integers},
    {"div", [](Decoder& d) { decode_binary<IntDiv>(d, kIntegers); }, OpcodeTypes::Integers},
    {"addc", [](Decoder& d) { decode_carry(d, false, true, d.take("cc")); }},
    {"subc", [](Decoder& d) { decode_carry(d, true, true, d.take("cc")); }},
    {"sad", [](Decoder& d) { decode_ternary<DifferenceSum>(d, kIntegers); }},
    {"rem", [](Decoder& d) { decode_binary<IntRem>(d, kIntegers); }},
    {"min", [](Decoder& d) { decode_binary<Min>(d, kIntegers); }, OpcodeTypes::Integers},
    {"max", [](Decoder& d) { decode_binary<Max>(d, kIntegers); }, OpcodeTypes::Integers},
    {"abs", [](Decoder& d) { decode_unary<IntAbs>(d, kSigned); }, OpcodeTypes::Integers},
    {"dp2a", decode_dp2a},
    {"dp4a", decode_dot<uint8_t, 0>},
    {"neg", decode_carrying<std::negate<>, 1>, OpcodeTypes::Integers},
};

}  // namespace

std::span<const Opcode> integer_opcodes() { return kOpcodes; }

}  // namespace sinter::runtime::cuda::sim
