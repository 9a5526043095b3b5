// Floating-point arithmetic. Rounding follows IEEE in the direction that the opcode says; .ftz flushes denormals to
// zero and .sat clamps results to [0, 1]. The approximate functions are computed in double precision and rounded; the
// device may differ by its documented error.
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "cudasim/half.h"
#include "cudasim/type_dispatch.h"

namespace sinter::runtime::cuda::sim {
namespace {

using FloatFma = decltype([](auto a, auto b, auto c) { return std::fma(a, b, c); });
// If one operand is NaN, the other is the result. -0 is less than +0.
using FloatMin = decltype([]<typename T>(T a, T b) -> T {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
});
using FloatMax = decltype([]<typename T>(T a, T b) -> T {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return a > b || (a == b && std::signbit(b)) ? a : b;
});
template <typename F>
struct OrNaN {
  template <typename T>
  T operator()(T a, T b) const {
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN() : F()(a, b);
  }
};
using FloatAbs = decltype([](auto a) { return std::fabs(a); });
using FloatSqrt = decltype([](auto a) { return std::sqrt(a); });
using Reciprocal = decltype([]<typename T>(T a) -> T { return T(1) / a; });
/// The magnitude of b with the sign of a.
using CopySign = decltype([](auto a, auto b) { return std::copysign(b, a); });
template <double (*kFunction)(double)>
struct Approximate {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(kFunction(static_cast<double>(a)));
  }
};

double reciprocal_root(double a) { return 1 / std::sqrt(a); }

// Instruction::mode.
constexpr uint8_t kRoundingBits = 3, kFlush = 4, kSaturate = 8;

class RoundingScope {
 public:
  explicit RoundingScope(uint8_t mode) : before_(std::fegetround()) {
    constexpr int kDirections[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(kDirections[mode & kRoundingBits]);
  }
  ~RoundingScope() { std::fesetround(before_); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  int before_;
};

template <typename T>
T flush(T value, uint8_t mode) {
  return mode & kFlush && std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(T(0), value) : value;
}
template <typename T>
T apply_output_mode(T value, uint8_t mode) {
  value = flush(value, mode);
  if (!(mode & kSaturate)) return value;
  return value > 0 ? std::fmin(value, T(1)) : T(0);  // a NaN becomes 0 too
}

/// An instruction of one to three sources in a rounding mode of its own. The values pass through volatile memory, so
/// that the compiler keeps the computation between the two mode changes.
template <typename F, typename T, int kSources>
void lanewise_with_mode(Warp& warp, const Instruction& in, uint32_t mask) {
  const RoundingScope scope(in.mode);
  for_lanes(mask, [&](int lane) {
    volatile T v[3] = {};
    for (int i = 0; i < kSources; ++i) v[i] = flush(lanes<T>(warp, in.source[i])[lane], in.mode);
    volatile T result;
    if constexpr (kSources == 1) result = F()(T(v[0]));
    if constexpr (kSources == 2) result = F()(T(v[0]), T(v[1]));
    if constexpr (kSources == 3) result = F()(T(v[0]), T(v[1]), T(v[2]));
    lanes<T>(warp, in.result[0])[lane] = apply_output_mode(T(result), in.mode);
  });
}

/// 16-bit floats, computed in double and rounded once. There sums and products are exact, and a fused sum is exact
/// except for bits that cannot decide a tie.
template <typename F, const HalfFormat& kFormat, int kSources>
void lanewise_half(Warp& warp, const Instruction& in, uint32_t mask) {
  for_lanes(mask, [&](int lane) {
    double v[3] = {};
    for (int i = 0; i < kSources; ++i) v[i] = half_to_float(lanes<uint16_t>(warp, in.source[i])[lane], kFormat);
    double result = 0;
    if constexpr (kSources == 1) result = F()(v[0]);
    if constexpr (kSources == 2) result = F()(v[0], v[1]);
    if constexpr (kSources == 3) {
      const double product = v[0] * v[1], sum = product + v[2], part = sum - product;
      const double lost = (product - (sum - part)) + (v[2] - part);
      result = sum;
      if (lost != 0 && std::isfinite(sum) && !(std::bit_cast<uint64_t>(sum) & 1))  // to odd, so that rounding sees no
                                                                                   // false tie
        result = std::nextafter(sum, lost > 0 ? INFINITY : -INFINITY);
    }
    lanes<uint16_t>(warp, in.result[0])[lane] = round_to_half(result, kFormat, Rounding::Nearest);
  });
}

uint8_t take_mode(Decoder& d) {
  auto mode = static_cast<uint8_t>(std::max(d.take_one({"rn", "rz", "rm", "rp"}), 0));
  if (d.take("ftz")) mode |= kFlush;
  if (d.take("sat")) mode |= kSaturate;
  return mode;
}

template <typename F, int kSources>
void decode_float(Decoder& d) {
  d.take("approx");
  d.take("full");
  d.out.mode = take_mode(d);
  const std::string_view type = d.take_type();
  int bytes = 2;
  if (type == "f16" && !d.out.mode) {
    d.out.run = lanewise_half<F, kFloat16, kSources>;
  } else if (type == "bf16" && !d.out.mode) {
    d.out.run = lanewise_half<F, kBFloat16, kSources>;
  } else {
    const TypeMatch picked = pick(kFloats, type, [&]<typename T>() -> WarpFunction {
      return d.out.mode ? lanewise_with_mode<F, T, kSources> : lanewise<F, T, kSources>();
    });
    if (!picked.run) d.fail("this type or rounding is not supported here");
    d.out.run = picked.run;
    bytes = picked.bytes;
  }
  d.result(bytes);
  for (int i = 0; i < kSources; ++i) d.source(i, bytes);
}

// FMA takes most of the time, so use the machine's instruction where there is one.
#if defined(__x86_64__)
template <typename T>
__attribute__((target("avx2,fma"))) void fast_fma(Warp& warp, const Instruction& in, uint32_t mask) {
  const T *a = reinterpret_cast<const T*>(warp.registers + in.source[0].at),
          *b = reinterpret_cast<const T*>(warp.registers + in.source[1].at);
  const T* c = reinterpret_cast<const T*>(warp.registers + in.source[2].at);
  T* to = reinterpret_cast<T*>(warp.registers + in.result[0].at);
  if (mask == kAllLanes) {
    SINTER_LANE_LOOP
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = std::fma(a[lane], b[lane], c[lane]);
  } else {
    for (int lane = 0; lane < kLanes; ++lane)
      if (mask >> lane & 1) to[lane] = std::fma(a[lane], b[lane], c[lane]);
  }
}
#endif

void use_fast_fma(Decoder& d) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("fma") || !__builtin_cpu_supports("avx2")) return;
  if (d.out.run == static_cast<WarpFunction>(ternary<FloatFma, float>)) d.out.run = fast_fma<float>;
  if (d.out.run == static_cast<WarpFunction>(ternary<FloatFma, double>)) d.out.run = fast_fma<double>;
#else
  (void)d;
#endif
}

template <typename F>
void decode_extreme(Decoder& d) {
  d.take("NaN") ? decode_float<OrNaN<F>, 2>(d) : decode_float<F, 2>(d);
}

void decode_fma(Decoder& d) {
  decode_float<FloatFma, 3>(d);
  use_fast_fma(d);
}

constexpr Opcode kOpcodes[] = {
    {"add", decode_float<std::plus<>, 2>, OpcodeTypes::Floats},
    {"sub", decode_float<std::minus<>, 2>, OpcodeTypes::Floats},
    {"mul", decode_float<std::multiplies<>, 2>, OpcodeTypes::Floats},
    {"div", decode_float<std::divides<>, 2>, OpcodeTypes::Floats},
    {"min", decode_extreme<FloatMin>, OpcodeTypes::Floats},
    {"max", decode_extreme<FloatMax>, OpcodeTypes::Floats},
    {"abs", decode_float<FloatAbs, 1>, OpcodeTypes::Floats},
    {"neg", decode_float<std::negate<>, 1>, OpcodeTypes::Floats},
    {"mad", decode_fma, OpcodeTypes::Floats},
    {"fma", decode_fma},
    {"copysign", decode_float<CopySign, 2>},
    {"sqrt", decode_float<FloatSqrt, 1>},
    {"rcp", decode_float<Reciprocal, 1>},
    {"rsqrt", decode_float<Approximate<reciprocal_root>, 1>},
    {"ex2", decode_float<Approximate<std::exp2>, 1>},
    {"lg2", decode_float<Approximate<std::log2>, 1>},
    {"sin", decode_float<Approximate<std::sin>, 1>},
    {"cos", decode_float<Approximate<std::cos>, 1>},
    {"tanh", decode_float<Approximate<std::tanh>, 1>},
};

}  // namespace

std::span<const Opcode> float_opcodes() { return kOpcodes; }

}  // namespace sinter::runtime::cuda::sim
