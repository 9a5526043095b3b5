// cvt, for every pair of types. A float becomes an integer by rounding as the opcode says and clamping to the type's
// range. A NaN becomes 0, or only the highest bit if either type has 64 bits. Everything else rounds once.
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cudasim/half.h"
#include "cudasim/type_dispatch.h"

namespace sinter::runtime::cuda::sim {
namespace {

// The 16-bit floats as distinct types, for use in type lists.
struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};

template <typename T>
constexpr bool kIsHalf = std::is_same_v<T, F16> || std::is_same_v<T, BF16>;
template <typename T>
constexpr const HalfFormat& kFormat = std::is_same_v<T, F16> ? kFloat16 : kBFloat16;

// Instruction::mode.
constexpr uint8_t kRoundingBits = 3, kFlush = 4, kSaturate = 8, kIntegral = 16;

Rounding rounding_of(const Instruction& in) { return static_cast<Rounding>(in.mode & kRoundingBits); }

/// A float as a double. Single-precision denormals are flushed if the mode says so.
template <typename A>
double to_double(A value, uint8_t mode) {
  if constexpr (kIsHalf<A>)
    return half_to_float(value.bits, kFormat<A>);
  else if constexpr (std::is_same_v<A, float>)
    return mode & kFlush && std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0, static_cast<double>(value))
                                                                   : value;
  else
    return value;
}

/// A double rounded to single precision in any direction.
float to_single(double value, Rounding rounding) {
  const float nearest = static_cast<float>(value);
  if (rounding == Rounding::Nearest || std::isnan(value) || nearest == value) return nearest;
  const bool up = rounding == Rounding::Up || (rounding == Rounding::Zero && value < 0);
  if (up == (nearest > value)) return nearest;
  return std::nextafter(nearest, up ? INFINITY : -INFINITY);
}

template <typename D>
D to_float(double value, const Instruction& in) {
  if (in.mode & kIntegral) value = round_to_integer(value, rounding_of(in));
  if (in.mode & kSaturate) value = value > 0 ? std::fmin(value, 1.0) : 0.0;
  if constexpr (kIsHalf<D>)
    return {round_to_half(value, kFormat<D>, rounding_of(in))};
  else if constexpr (std::is_same_v<D, float>) {
    const float single = to_single(value, rounding_of(in));
    return in.mode & kFlush && std::fpclassify(single) == FP_SUBNORMAL ? std::copysign(0.0f, single) : single;
  } else {
    return value;
  }
}

template <typename D>
D to_integer(double value, Rounding rounding, bool wide) {
  if (std::isnan(value)) return wide ? static_cast<D>(D(1) << (sizeof(D) * 8 - 1)) : D(0);
  value = round_to_integer(value, rounding);
  // The bounds as doubles. For 64 bits the upper bound rounds up to a power of two beyond the range.
  constexpr double kLow = static_cast<double>(std::numeric_limits<D>::min());
  constexpr double kHigh = static_cast<double>(std::numeric_limits<D>::max());
  if (value <= kLow) return std::numeric_limits<D>::min();
  if (value >= kHigh) return std::numeric_limits<D>::max();
  return static_cast<D>(value);
}

/// A 64-bit integer as a double, rounded to odd: bits that do not fit set the last bit. A second rounding to fewer bits
/// then gives the same result as rounding the integer directly.
template <typename A>
double to_odd_double(A value) {
  if constexpr (sizeof(A) == 8)
    if (value > A(1) << 53 || (std::is_signed_v<A> && value < static_cast<A>(-(int64_t{1} << 53))))
      value = static_cast<A>((value & ~A(2047)) | (value & 2047 ? 2048 : 0));
  return static_cast<double>(value);
}

template <typename D, typename A>
D integer_to_float(A value, const Instruction& in) {
  if constexpr (std::is_same_v<D, double>) {
    if (rounding_of(in) == Rounding::Nearest || sizeof(A) < 8) return static_cast<double>(value);
    constexpr int kDirections[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(kDirections[in.mode & kRoundingBits]);
    volatile A input = value;
    volatile double result = static_cast<double>(input);
    std::fesetround(FE_TONEAREST);
    return result;
  } else {
    return to_float<D>(to_odd_double(value), in);
  }
}

/// Integer to integer: truncated, or with .sat clamped to the range.
template <typename D, typename A>
D integer_to_integer(A value, const Instruction& in) {
  if (in.mode & kSaturate) {
    const __int128 wide = value, low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
    return static_cast<D>(wide < low ? low : wide > high ? high : wide);
  }
  return static_cast<D>(value);
}

template <typename D, typename A>
D convert_value(A value, const Instruction& in) {
  constexpr bool kFromInteger = std::is_integral_v<A>, kToInteger = std::is_integral_v<D>;
  if constexpr (kFromInteger && kToInteger)
    return integer_to_integer<D>(value, in);
  else if constexpr (kFromInteger)
    return integer_to_float<D>(value, in);
  else if constexpr (kToInteger)
    return to_integer<D>(to_double(value, in.mode), rounding_of(in), std::is_same_v<A, double> || sizeof(D) == 8);
  else
    return to_float<D>(to_double(value, in.mode), in);
}

template <typename D, typename A>
void convert(Warp& warp, const Instruction& in, uint32_t mask) {
  const RegisterSlot from = in.source[0], to = in.result[0];
  if (from.bytes == sizeof(A) && to.bytes == sizeof(D)) {
    const A* a = lanes<A>(warp, from);
    return assign(lanes<D>(warp, to), mask, [&](int lane) { return convert_value<D>(a[lane], in); });
  }
  for_lanes(mask, [&](int lane) {
    A value;
    std::memcpy(&value, warp.registers + from.at + lane * from.bytes, sizeof value);
    store_extended(warp, to, lane, convert_value<D>(value, in));
  });
}

// The most frequent conversions, in loops that the compiler vectorizes.
template <typename D, typename A>
void convert_plain(Warp& warp, const Instruction& in, uint32_t mask) {
  const A* a = lanes<A>(warp, in.source[0]);
  assign(lanes<D>(warp, in.result[0]), mask, [&](int lane) { return static_cast<D>(a[lane]); });
}

template <typename D, typename A>
constexpr bool kPlain =
    (std::is_integral_v<A> && std::is_integral_v<D>) || (std::is_floating_point_v<A> && std::is_floating_point_v<D>) ||
    (std::is_integral_v<A> && std::is_floating_point_v<D>);

constexpr TypeList kAll{NamedType<uint8_t>{"u8"},   NamedType<int8_t>{"s8"},    NamedType<uint16_t>{"u16"},
                        NamedType<int16_t>{"s16"},  NamedType<uint32_t>{"u32"}, NamedType<int32_t>{"s32"},
                        NamedType<uint64_t>{"u64"}, NamedType<int64_t>{"s64"},  NamedType<float>{"f32"},
                        NamedType<double>{"f64"},   NamedType<F16>{"f16"},      NamedType<BF16>{"bf16"}};

template <typename D>
TypeMatch pick_source(std::string_view type, bool plain) {
  return pick(kAll, type, [plain]<typename A>() -> WarpFunction {
    if constexpr (kPlain<D, A>)
      if (plain) return convert_plain<D, A>;
    return convert<D, A>;
  });
}

/// Two numbers packed in 32 bits, the first in the upper half.
template <const HalfFormat& kFormat>
void convert_pair(Warp& warp, const Instruction& in, uint32_t mask) {
  const float *high = lanes<float>(warp, in.source[0]), *low = lanes<float>(warp, in.source[1]);
  const Rounding rounding = rounding_of(in);
  assign(lanes<uint32_t>(warp, in.result[0]), mask, [&](int lane) {
    return static_cast<uint32_t>(round_to_half(high[lane], kFormat, rounding)) << 16 |
           round_to_half(low[lane], kFormat, rounding);
  });
}

void take_mode(Decoder& d) {
  constexpr std::string_view kDirections[] = {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"};
  for (uint8_t i = 0; i < 8; ++i)
    if (d.take(kDirections[i])) d.out.mode = static_cast<uint8_t>((i & 3) | (i < 4 ? 0 : kIntegral));
  if (d.take("ftz")) d.out.mode |= kFlush;
  if (d.take("sat")) d.out.mode |= kSaturate;
}

/// A register for a value of `bytes` bytes; it may be wider.
RegisterSlot wide_slot(Decoder& d, int bytes) {
  const RegisterSlot slot = d.slot(d.operand(), bytes);
  if (slot.bytes < bytes) d.fail("the register is too small for the type");
  return slot;
}

bool is_integer(std::string_view type) { return type[0] == 'u' || type[0] == 's'; }

void decode_cvt(Decoder& d) {
  take_mode(d);
  const std::string_view from = d.take_type(), to = d.take_type();
  if (to == "bf16x2" || to == "f16x2") {
    if (from != "f32") d.fail("pairs come from f32");
    d.out.poison_rule = PoisonRule::Halves;
    d.out.run = to == "bf16x2" ? convert_pair<kBFloat16> : convert_pair<kFloat16>;
    return d.operands(4, {4, 4});
  }
  TypeMatch source;
  const TypeMatch result = pick(kAll, to, [&]<typename D>() -> WarpFunction {
    source = pick_source<D>(from, false);
    return source.run;
  });
  if (!source.run) d.fail("these types are not supported here");
  d.out.result[0] = wide_slot(d, result.bytes);
  d.out.source[0] = wide_slot(d, source.bytes);
  d.out.run = source.run;
  d.out.width = static_cast<uint8_t>(source.bytes);
  if (is_integer(from) && is_integer(to) && !(d.out.mode & kSaturate)) d.out.poison_rule = PoisonRule::Bits;
  if (d.out.mode == 0 && d.out.result[0].bytes == result.bytes && d.out.source[0].bytes == source.bytes)
    pick(kAll, to, [&]<typename D>() -> WarpFunction { return d.out.run = pick_source<D>(from, true).run; });
}

constexpr Opcode kOpcodes[] = {{"cvt", decode_cvt}};

}  // namespace

std::span<const Opcode> convert_opcodes() { return kOpcodes; }

}  // namespace sinter::runtime::cuda::sim
