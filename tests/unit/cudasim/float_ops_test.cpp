// Floating-point opcodes and conversions of the simulated GPU against C++.
#include <cfenv>
#include <limits>

#include "cudasim/half.h"
#include "sim_ops.h"

using namespace cuda_sim_test;
using Catch::Matchers::Contains;

namespace {

/// f() rounded in a direction; volatile, so that nothing is computed before.
template <int kDirection, typename T, typename F>
T directed(T a, T b, F f) {
  volatile T x = a, y = b;
  std::fesetround(kDirection);
  volatile T result = f(T(x), T(y));
  std::fesetround(FE_TONEAREST);
  return result;
}

template <typename T>
T less(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <typename T>
T more(T a, T b) {
  return -less<T>(-a, -b);
}

enum class Way { Nearest, Zero, Down, Up };

/// In 64 bits of mantissa, which hold every integer of 64 bits and every double.
template <typename D, Way kWay, typename A>
D to_integer(A value) {
  const bool wide = sizeof(A) == 8 || sizeof(D) == 8;
  if (std::isnan(value)) return wide ? static_cast<D>(D(1) << (sizeof(D) * 8 - 1)) : D(0);
  long double v = value;
  v = kWay == Way::Nearest ? std::rint(v)
      : kWay == Way::Zero  ? std::trunc(v)
      : kWay == Way::Down  ? std::floor(v)
                           : std::ceil(v);
  if (v < static_cast<long double>(std::numeric_limits<D>::min())) return std::numeric_limits<D>::min();
  if (v > static_cast<long double>(std::numeric_limits<D>::max())) return std::numeric_limits<D>::max();
  return static_cast<D>(v);
}

/// The number of the format that is next to `value`, ties to the one with an even last bit: by search.
uint16_t nearest(double value, const sim::HalfFormat& format) {
  if (std::isnan(value)) return 0x7fff;
  const auto magnitude = [&](int bits) {  // of infinity: where the next larger number would be
    return bits == format.infinity ? 2.0 * sim::half_to_float(format.infinity - 1, format) -
                                         sim::half_to_float(format.infinity - 2, format) + 0.0
                                   : static_cast<double>(sim::half_to_float(static_cast<uint16_t>(bits), format));
  };
  int low = 0, high = format.infinity;
  const double v = std::fabs(value);
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (magnitude(middle) <= v ? low : high) = middle;
  }
  // Exact for floats: the distances are sums of few bits.
  const long double below = static_cast<long double>(v) - magnitude(low),
                    above = static_cast<long double>(magnitude(high)) - v;
  const int chosen = v == std::numeric_limits<double>::infinity()        ? format.infinity
                     : below < above || (below == above && low % 2 == 0) ? low
                                                                         : high;
  return static_cast<uint16_t>(chosen | (std::signbit(value) ? 0x8000 : 0));
}

}  // namespace

TEST_CASE("floating-point arithmetic of the simulated GPU", "[cuda-sim]") {
  check_ops({
      op_case(
          "add.f32", +[](float a, float b) { return a + b; }),
      op_case(
          "add.rn.f64", +[](double a, double b) { return a + b; }),
      op_case(
          "sub.rn.f32", +[](float a, float b) { return a - b; }),
      op_case(
          "mul.rn.f32", +[](float a, float b) { return a * b; }),
      op_case(
          "mul.f64", +[](double a, double b) { return a * b; }),
      op_case(
          "fma.rn.f32", +[](float a, float b, float c) { return std::fma(a, b, c); }),
      op_case(
          "fma.rn.f64", +[](double a, double b, double c) { return std::fma(a, b, c); }),
      op_case(
          "div.rn.f32", +[](float a, float b) { return a / b; }),
      op_case(
          "div.rn.f64", +[](double a, double b) { return a / b; }),
      op_case(
          "rcp.rn.f32", +[](float a) { return 1 / a; }),
      op_case(
          "sqrt.rn.f32", +[](float a) { return std::sqrt(a); }),
      op_case(
          "sqrt.rn.f64", +[](double a) { return std::sqrt(a); }),
      op_case("min.f32", less<float>),
      op_case("max.f32", more<float>),
      op_case("min.f64", less<double>),
      op_case(
          "max.NaN.f32", +[](float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : more(a, b); }),
      op_case(
          "abs.f32", +[](float a) { return std::fabs(a); }),
      op_case(
          "neg.f64", +[](double a) { return -a; }),
      op_case(
          "add.rz.f32",
          +[](float a, float b) { return directed<FE_TOWARDZERO>(a, b, [](float x, float y) { return x + y; }); }),
      op_case(
          "add.rm.f64",
          +[](double a, double b) { return directed<FE_DOWNWARD>(a, b, [](double x, double y) { return x + y; }); }),
      op_case(
          "mul.rp.f32",
          +[](float a, float b) { return directed<FE_UPWARD>(a, b, [](float x, float y) { return x * y; }); }),
      op_case(
          "div.rz.f64",
          +[](double a, double b) { return directed<FE_TOWARDZERO>(a, b, [](double x, double y) { return x / y; }); }),
      op_case(
          "add.sat.f32", +[](float a, float b) { return a + b > 0 ? std::min(a + b, 1.0f) : 0.0f; }),
      op_case(
          "mul.ftz.f32",
          +[](float a, float b) {
            const auto flush = [](float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v; };
            return flush(flush(a) * flush(b));
          }),
  });
}

TEST_CASE("approximate functions of the simulated GPU are those of double precision", "[cuda-sim]") {
  check_ops({
      op_case(
          "ex2.approx.f32", +[](float a) { return static_cast<float>(std::exp2(static_cast<double>(a))); }),
      op_case(
          "lg2.approx.f32", +[](float a) { return static_cast<float>(std::log2(static_cast<double>(a))); }),
      op_case(
          "sin.approx.f32", +[](float a) { return static_cast<float>(std::sin(static_cast<double>(a))); }),
      op_case(
          "cos.approx.f32", +[](float a) { return static_cast<float>(std::cos(static_cast<double>(a))); }),
      op_case(
          "rsqrt.approx.f32", +[](float a) { return static_cast<float>(1 / std::sqrt(static_cast<double>(a))); }),
      op_case(
          "div.full.f32", +[](float a, float b) { return a / b; }),
  });
}

TEST_CASE("comparisons of floats on the simulated GPU", "[cuda-sim]") {
  check_ops({
      op_case(
          "setp.eq.f32", +[](float a, float b) { return a == b; }),
      op_case(
          "setp.ne.f32", +[](float a, float b) { return a < b || a > b; }),
      op_case(
          "setp.neu.f32", +[](float a, float b) { return a != b; }),
      op_case(
          "setp.lt.f64", +[](double a, double b) { return a < b; }),
      op_case(
          "setp.ltu.f32", +[](float a, float b) { return !(a >= b); }),
      op_case(
          "setp.geu.f64", +[](double a, double b) { return !(a < b); }),
      op_case(
          "setp.equ.f32", +[](float a, float b) { return !(a < b || a > b); }),
      op_case(
          "setp.num.f32", +[](float a, float b) { return a == a && b == b; }),
      op_case(
          "setp.nan.f64", +[](double a, double b) { return a != a || b != b; }),
  });
}

TEST_CASE("floats become integers on the simulated GPU as PTX says", "[cuda-sim]") {
  check_ops({
      op_case("cvt.rzi.s32.f32", to_integer<int32_t, Way::Zero, float>),
      op_case("cvt.rni.s32.f32", to_integer<int32_t, Way::Nearest, float>),
      op_case("cvt.rmi.s32.f32", to_integer<int32_t, Way::Down, float>),
      op_case("cvt.rpi.s32.f32", to_integer<int32_t, Way::Up, float>),
      op_case("cvt.rzi.u32.f32", to_integer<uint32_t, Way::Zero, float>),
      op_case("cvt.rzi.s64.f32", to_integer<int64_t, Way::Zero, float>),
      op_case("cvt.rzi.u64.f32", to_integer<uint64_t, Way::Zero, float>),
      op_case("cvt.rzi.s32.f64", to_integer<int32_t, Way::Zero, double>),
      op_case("cvt.rni.s64.f64", to_integer<int64_t, Way::Nearest, double>),
      op_case("cvt.rzi.u64.f64", to_integer<uint64_t, Way::Zero, double>),
      op_case("cvt.rzi.s16.f32", to_integer<int16_t, Way::Zero, float>),
      op_case("cvt.rzi.u16.f64", to_integer<uint16_t, Way::Zero, double>),
  });
}

TEST_CASE("other conversions on the simulated GPU", "[cuda-sim]") {
  check_ops({
      op_case(
          "cvt.rn.f32.s32", +[](int32_t a) { return static_cast<float>(a); }),
      op_case(
          "cvt.rn.f32.u32", +[](uint32_t a) { return static_cast<float>(a); }),
      op_case(
          "cvt.rn.f32.s64", +[](int64_t a) { return static_cast<float>(a); }),
      op_case(
          "cvt.rn.f32.u64", +[](uint64_t a) { return static_cast<float>(a); }),
      op_case(
          "cvt.rn.f64.s32", +[](int32_t a) { return static_cast<double>(a); }),
      op_case(
          "cvt.rn.f64.u64", +[](uint64_t a) { return static_cast<double>(a); }),
      op_case(
          "cvt.rz.f32.s32",
          +[](int32_t a) {
            volatile int32_t x = a;
            std::fesetround(FE_TOWARDZERO);
            volatile float result = static_cast<float>(x);
            std::fesetround(FE_TONEAREST);
            return static_cast<float>(result);
          }),
      op_case(
          "cvt.f64.f32", +[](float a) { return static_cast<double>(a); }),
      op_case(
          "cvt.rn.f32.f64", +[](double a) { return static_cast<float>(a); }),
      op_case(
          "cvt.rp.f32.f64",
          +[](double a) {
            volatile double x = a;
            std::fesetround(FE_UPWARD);
            volatile float result = static_cast<float>(x);
            std::fesetround(FE_TONEAREST);
            return static_cast<float>(result);
          }),
      op_case(
          "cvt.rni.f32.f32", +[](float a) { return std::rint(a); }),
      op_case(
          "cvt.rzi.f32.f32", +[](float a) { return std::trunc(a); }),
      op_case(
          "cvt.rmi.f64.f64", +[](double a) { return std::floor(a); }),
      op_case(
          "cvt.rpi.f32.f32", +[](float a) { return std::ceil(a); }),
      op_case(
          "cvt.sat.f32.f32", +[](float a) { return a > 0 ? std::min(a, 1.0f) : 0.0f; }),
      op_case(
          "cvt.u64.u32", +[](uint32_t a) { return uint64_t{a}; }),
      op_case(
          "cvt.s64.s32", +[](int32_t a) { return int64_t{a}; }),
      op_case(
          "cvt.u32.u64", +[](uint64_t a) { return static_cast<uint32_t>(a); }),
      op_case(
          "cvt.s32.s16", +[](int16_t a) { return int32_t{a}; }),
      op_case(
          "cvt.s32.s8", +[](uint32_t a) { return int32_t{static_cast<int8_t>(a)}; }),  // of the register's low byte
      op_case(
          "cvt.u16.u8", +[](uint16_t a) { return static_cast<uint16_t>(a & 255); }),
      op_case(
          "cvt.s64.s8", +[](uint16_t a) { return int64_t{static_cast<int8_t>(a)}; }),
      op_case(
          "cvt.sat.u16.s32", +[](int32_t a) { return static_cast<uint16_t>(std::clamp(a, 0, 65535)); }),
  });
}

TEST_CASE("16-bit floats round to the nearest on the simulated GPU", "[cuda-sim]") {
  check_ops({
      op_case(
          "cvt.rn.f16.f32", +[](float a) { return nearest(a, sim::kFloat16); }),
      op_case(
          "cvt.rn.bf16.f32", +[](float a) { return nearest(a, sim::kBFloat16); }),
      op_case(
          "cvt.rn.f16.f64", +[](double a) { return nearest(a, sim::kFloat16); }),
      op_case(
          "cvt.rn.bf16x2.f32",
          +[](float a, float b) {
            return static_cast<uint32_t>(nearest(a, sim::kBFloat16)) << 16 | nearest(b, sim::kBFloat16);
          }),
  });
  for (int bits = 0; bits < 0x10000; ++bits)
    for (const sim::HalfFormat* format : {&sim::kFloat16, &sim::kBFloat16}) {
      const float value = sim::half_to_float(static_cast<uint16_t>(bits), *format);
      if (std::isnan(value)) continue;
      REQUIRE(sim::round_to_half(value, *format, sim::Rounding::Nearest) == bits);
      if (format == &sim::kBFloat16) REQUIRE(bits_of(value) == static_cast<uint64_t>(bits) << 16);
    }
  CHECK(sim::half_to_float(0x3c00, sim::kFloat16) == 1.0f);
  CHECK(sim::half_to_float(0x0001, sim::kFloat16) == 0x1p-24f);
  CHECK(sim::half_to_float(0x7bff, sim::kFloat16) == 65504.0f);
}
