// Expansions of math functions against libm in a wider type: stated errors, special values, exact ops.
#include "codegen/normalize/normalize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>

#include "cases.h"
#include "catch.h"
#include "interp/interpreter.h"
#include "ir/build.h"
#include "ir/scalar_eval.h"
#include "ir/walk.h"
#include "sinter/error.h"

using namespace sinter;
using namespace sinter::ir;
using sinter::runtime::Array;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;

/// op on arrays, expanded, by the interpreter.
template <class T>
std::vector<T> expanded(Op op, const std::vector<T>& x, const std::vector<T>& y = {}) {
  Arena g;
  const Shape shape{static_cast<int64_t>(x.size())};
  std::vector<UOp> src{param(g, 0, dtype_of<T>::value, shape)};
  std::vector<Array> inputs{Array::of<T>({static_cast<int64_t>(x.size())}, x)};
  if (!y.empty()) {
    src.push_back(param(g, 1, dtype_of<T>::value, shape));
    inputs.push_back(Array::of<T>({static_cast<int64_t>(x.size())}, y));
  }
  const UOp root = codegen::expand_math(g, alu(op, src));
  const Array out = runtime::interpret(std::span(&root, 1), {.params = inputs})[0];
  return {out.as<T>().begin(), out.as<T>().end()};
}
template <class T>
T expanded_at(Op op, double x, double y = 0) {
  return expanded<T>(op, {static_cast<T>(x)},
                     info(op).arity == 2 ? std::vector<T>{static_cast<T>(y)} : std::vector<T>{})[0];
}

/// The error in units of the last place of `want`; infinite where NaN, infinity or the sign of a zero is wrong.
template <class T, class Wide>
double error_in_ulp(T got, Wide want) {
  using Limits = std::numeric_limits<T>;
  const T rounded = static_cast<T>(want);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : kInf;
  if (rounded == 0 && got == 0) return std::signbit(want) == std::signbit(got) ? 0 : kInf;
  if (std::isinf(rounded) && rounded == got) return 0;
  if (std::isinf(rounded) != std::isinf(got)) {  // the edge of overflow: infinity stands for the next power of two
    const T finite = std::isinf(got) ? rounded : got;
    return std::fabs(finite) == Limits::max() ? 1 : kInf;
  }
  const int exponent = want == 0 ? Limits::min_exponent - 1 : std::max(std::ilogb(want), Limits::min_exponent - 1);
  return static_cast<double>(std::fabs(std::ldexp(static_cast<Wide>(got) - want, Limits::digits - 1 - exponent)));
}

/// Newton's method in T. Near 1 on 1 - erf, which has the digits there.
template <class T>
T inverse_erf(T x) {
  const T size = std::fabs(x);
  if (!(size < 1)) return size == 1 ? std::copysign(std::numeric_limits<T>::infinity(), x) : std::nan("");
  if (size < T(1e-25)) return x * std::sqrt(static_cast<T>(3.14159265358979323846264338327950288L)) / 2;
  T y = 0;
  for (int round = 0; round < 200; ++round) {
    const T error = size < T(0.5) ? std::erf(y) - size : (1 - size) - std::erfc(y);
    const T slope = 2 / std::sqrt(static_cast<T>(3.14159265358979323846264338327950288L)) * std::exp(-y * y);
    const T step = error / slope;
    y -= step;  // from the left of a concave function: never too far
    if (std::fabs(step) <= y * std::numeric_limits<T>::epsilon() / 2) break;
  }
  return std::copysign(y, x);
}

struct Function {
  Op op;
  double (*in_double)(double);
  long double (*in_long_double)(long double);
};
const Function kFunctions[] = {
    {Op::Exp, std::exp, std::exp},         {Op::Exp2, std::exp2, std::exp2},    {Op::Log, std::log, std::log},
    {Op::Log1p, std::log1p, std::log1p},   {Op::Expm1, std::expm1, std::expm1}, {Op::Log2, std::log2, std::log2},
    {Op::Sin, std::sin, std::sin},         {Op::Cos, std::cos, std::cos},       {Op::Tan, std::tan, std::tan},
    {Op::Tanh, std::tanh, std::tanh},      {Op::Erf, std::erf, std::erf},       {Op::Erfc, std::erfc, std::erfc},
    {Op::Sinh, std::sinh, std::sinh},      {Op::Cosh, std::cosh, std::cosh},    {Op::Log10, std::log10, std::log10},
    {Op::Asinh, std::asinh, std::asinh},   {Op::Acosh, std::acosh, std::acosh}, {Op::Atanh, std::atanh, std::atanh},
    {Op::Erfinv, inverse_erf, inverse_erf}};
double reference(const Function& f, float x) { return f.in_double(static_cast<double>(x)); }
long double reference(const Function& f, double x) { return f.in_long_double(x); }

template <class T>
T random_bits(std::mt19937_64& rng) {
  return std::bit_cast<T>(static_cast<std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>(rng()));
}

/// Zeros, denormals, limits, infinities and NaN, both signs, with their neighbours.
template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> out;
  for (double v : {0.0,    0.25,   0.5,    1.0,    1.5,   2.0,    3.0,    0.92,   4.0,   6.0,    10.0,
                   20.0,   87.3,   88.73,  103.98, 127.0, 128.0,  149.0,  150.0,  708.4, 709.79, 745.14,
                   1022.0, 1024.0, 1074.0, 1075.0, 1e10,  0x1p30, 0x1p60, 0x1p79, 1e30,  kInf,   kNaN})
    out.push_back(static_cast<T>(v));
  // The floats that lie nearest to a multiple of pi/2 (Muller, "Elementary Functions", chapter 11).
  out.push_back(static_cast<T>(16367173 * 0x1p72));
  out.push_back(static_cast<T>(0x1.6ac5b262ca1ffp+849));
  for (T v : {Limits::denorm_min(), Limits::min(), Limits::max()}) out.push_back(v);
  for (size_t i = out.size(); i-- > 0;) {
    out.push_back(std::nextafter(out[i], T(0)));
    out.push_back(std::nextafter(out[i], static_cast<T>(kInf)));
  }
  for (size_t i = out.size(); i-- > 0;) out.push_back(-out[i]);
  return out;
}

/// `count` numbers: bit patterns, then regions where functions live, saturate or cancel.
template <class T>
std::vector<T> samples(std::mt19937_64& rng, size_t count) {
  std::uniform_real_distribution<double> unit(-1, 1);
  std::vector<T> out = special_values<T>();
  while (out.size() < count) {
    double v = 0;
    switch (rng() % 9) {
      case 0: v = unit(rng) * (sizeof(T) == 4 ? 155 : 1100); break;
      case 1: v = unit(rng) * 8; break;
      case 2: v = 1 + std::ldexp(unit(rng), -static_cast<int>(rng() % 40)); break;
      case 3: v = static_cast<double>(rng() % 2000000) * kPi / 2; break;
      case 4: v = unit(rng); break;
      case 5: v = std::ldexp(unit(rng), std::numeric_limits<T>::min_exponent - static_cast<int>(rng() % 20)); break;
      default: v = static_cast<double>(random_bits<T>(rng));
    }
    out.push_back(static_cast<T>(v));
  }
  return out;
}

/// The largest error of `want(i)`-checked results, with where it was met.
template <class T, class Want>
void check_bound(Op op, const std::vector<T>& x, const std::vector<T>& y, Want want, double bound) {
  const std::vector<T> got = expanded<T>(op, x, y);
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = error_in_ulp(got[i], want(i));
    if (error > worst) worst = error, at = i;
  }
  INFO(info(op).name << " " << name_of(dtype_of<T>::value) << " of " << x[at] << (y.empty() ? "" : ", ")
                     << (y.empty() ? 0 : y[at]) << " gives " << got[at] << ", not " << static_cast<double>(want(at)));
  CHECK(worst <= bound);
}

template <class T>
void check_functions(size_t chunks) {
  for (const Function& f : kFunctions) {
    std::mt19937_64 rng(static_cast<uint64_t>(f.op));
    for (size_t c = 0; c < chunks; ++c) {
      const std::vector<T> x = samples<T>(rng, 8192);
      check_bound<T>(
          f.op, x, {}, [&](size_t i) { return reference(f, x[i]); }, codegen::max_ulp(f.op, dtype_of<T>::value));
    }
  }
}

template <class T>
void check_pow(size_t chunks) {
  using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;
  std::mt19937_64 rng(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  const double range = sizeof(T) == 4 ? 155 : 1090;
  const std::vector<T> special = special_values<T>();
  for (size_t c = 0; c < chunks; ++c) {
    std::vector<T> x, y;
    if (c == 0)
      for (T a : special)
        for (size_t k = 0; k < 60; ++k) x.push_back(a), y.push_back(special[rng() % special.size()]);
    while (x.size() < 8192) {
      T a = random_bits<T>(rng), b = random_bits<T>(rng);
      if (rng() % 4 == 0) a = static_cast<T>(1 + std::ldexp(unit(rng), -static_cast<int>(rng() % 40)));
      if (rng() % 4)
        b = static_cast<T>(unit(rng) * range /
                           std::log2(std::fabs(static_cast<double>(a))));  // the whole range of results
      if (rng() % 4 == 0) b = static_cast<T>(static_cast<int>(rng() % 41) - 20);
      x.push_back(a), y.push_back(b);
    }
    check_bound<T>(
        Op::Pow, x, y, [&](size_t i) { return std::pow(static_cast<Wide>(x[i]), static_cast<Wide>(y[i])); },
        codegen::max_ulp(Op::Pow, dtype_of<T>::value));
  }
}

template <class T>
void check_atan2(size_t chunks) {
  using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;
  std::mt19937_64 rng(9);
  std::uniform_real_distribution<double> unit(-1, 1);
  const std::vector<T> special = special_values<T>();
  for (size_t c = 0; c < chunks; ++c) {
    std::vector<T> y, x;
    if (c == 0)
      for (T a : special)
        for (size_t k = 0; k < 60; ++k) y.push_back(a), x.push_back(special[rng() % special.size()]);
    while (y.size() < 8192) {
      T a = random_bits<T>(rng), b = random_bits<T>(rng);
      if (rng() % 4)
        b = static_cast<T>(unit(rng)), a = static_cast<T>(std::ldexp(unit(rng), 8 - static_cast<int>(rng() % 24)));
      if (rng() % 4 == 0) b = 1;
      y.push_back(a), x.push_back(b);
    }
    check_bound<T>(
        Op::Atan2, y, x, [&](size_t i) { return std::atan2(static_cast<Wide>(y[i]), static_cast<Wide>(x[i])); },
        codegen::max_ulp(Op::Atan2, dtype_of<T>::value));
  }
}

template <class T>
void check_remainder(size_t chunks) {
  std::mt19937_64 rng(8);
  std::uniform_real_distribution<double> unit(-1, 1);
  const std::vector<T> special = special_values<T>();
  for (size_t c = 0; c < chunks; ++c) {
    std::vector<T> x, y;
    while (x.size() < 8192) {
      T b = rng() % 2 ? random_bits<T>(rng) : static_cast<T>(unit(rng));
      T a = static_cast<T>(static_cast<double>(b) * std::ldexp(unit(rng), static_cast<int>(rng() % 50) - 5));
      if (rng() % 4 == 0)
        a = static_cast<T>(static_cast<double>(b) * static_cast<double>(rng() % 1000000));  // often a multiple
      if (rng() % 8 == 0) a = special[rng() % special.size()];
      if (rng() % 8 == 0) b = special[rng() % special.size()];
      if (rng() % 8 == 0) a = random_bits<T>(rng);  // any quotient
      x.push_back(a), y.push_back(b);
    }
    check_bound<T>(
        Op::FMod, x, y,
        [&](size_t i) {
          const DType d = dtype_of<T>::value;
          return evaluate(
                     Op::FMod, d,
                     std::vector{Scalar::of(d, static_cast<double>(x[i])), Scalar::of(d, static_cast<double>(y[i]))})
              .as_double();
        },
        0);
  }
}

struct Value {
  Op op;
  double x, y, want;
};

template <class T>
void check_values(std::span<const Value> values) {
  for (const Value& v : values) {
    const T got = expanded_at<T>(v.op, v.x, v.y);
    INFO(info(v.op).name << "(" << v.x << ", " << v.y << ") = " << got << ", not " << v.want);
    CHECK((std::isnan(v.want) ? std::isnan(got)
                              : got == static_cast<T>(v.want) && std::signbit(got) == std::signbit(v.want)));
  }
}

}  // namespace

TEST_CASE("float32 functions keep their stated errors", "[math]") { check_functions<float>(cases(64)); }
TEST_CASE("float64 functions keep their stated errors", "[math]") { check_functions<double>(cases(32)); }
TEST_CASE("pow keeps its stated error over all of its range", "[math]") {
  check_pow<float>(cases(32));
  check_pow<double>(cases(32));
}
TEST_CASE("atan2 keeps its stated error in every quadrant", "[math]") {
  check_atan2<float>(cases(32));
  check_atan2<double>(cases(32));
}
TEST_CASE("the float remainder is exact", "[math]") {
  check_remainder<float>(16);
  check_remainder<double>(16);
}

TEST_CASE("math functions have C99's special values", "[math]") {
  const Value values[] = {{Op::Exp, kInf, 0, kInf},
                          {Op::Exp, -kInf, 0, 0.0},
                          {Op::Exp, -0.0, 0, 1},
                          {Op::Exp2, -kInf, 0, 0.0},
                          {Op::Exp2, 10, 0, 1024},
                          {Op::Log, 0.0, 0, -kInf},
                          {Op::Log, -0.0, 0, -kInf},
                          {Op::Log, -1, 0, kNaN},
                          {Op::Log, kInf, 0, kInf},
                          {Op::Log, 1, 0, 0.0},
                          {Op::Log2, -kInf, 0, kNaN},
                          {Op::Log2, 0.125, 0, -3},
                          {Op::Log1p, -1, 0, -kInf},
                          {Op::Log1p, -2, 0, kNaN},
                          {Op::Log1p, kInf, 0, kInf},
                          {Op::Log1p, -0.0, 0, -0.0},
                          {Op::Log1p, 0.0, 0, 0.0},
                          {Op::Log1p, -kInf, 0, kNaN},
                          {Op::Expm1, -kInf, 0, -1},
                          {Op::Expm1, kInf, 0, kInf},
                          {Op::Expm1, -0.0, 0, -0.0},
                          {Op::Expm1, 0.0, 0, 0.0},
                          {Op::Expm1, -50, 0, -1},
                          {Op::Expm1, 1000, 0, kInf},
                          {Op::Sin, -0.0, 0, -0.0},
                          {Op::Sin, kInf, 0, kNaN},
                          {Op::Cos, -0.0, 0, 1},
                          {Op::Cos, -kInf, 0, kNaN},
                          {Op::Tan, -0.0, 0, -0.0},
                          {Op::Tan, kInf, 0, kNaN},
                          {Op::Tanh, -0.0, 0, -0.0},
                          {Op::Tanh, -kInf, 0, -1},
                          {Op::Tanh, 1e30, 0, 1},
                          {Op::Erf, -0.0, 0, -0.0},
                          {Op::Erf, -kInf, 0, -1},
                          {Op::Erf, 30, 0, 1},
                          {Op::Erfc, -kInf, 0, 2},
                          {Op::Erfc, kInf, 0, 0.0},
                          {Op::Erfc, -0.0, 0, 1},
                          {Op::Erfinv, -0.0, 0, -0.0},
                          {Op::Erfinv, 1, 0, kInf},
                          {Op::Erfinv, -1, 0, -kInf},
                          {Op::Erfinv, 1.5, 0, kNaN},
                          {Op::Erfinv, kInf, 0, kNaN},
                          {Op::Sinh, -0.0, 0, -0.0},
                          {Op::Sinh, -kInf, 0, -kInf},
                          {Op::Cosh, -kInf, 0, kInf},
                          {Op::Cosh, -0.0, 0, 1},
                          {Op::Asinh, -0.0, 0, -0.0},
                          {Op::Asinh, -kInf, 0, -kInf},
                          {Op::Acosh, 1, 0, 0.0},
                          {Op::Acosh, 0.5, 0, kNaN},
                          {Op::Acosh, -3, 0, kNaN},
                          {Op::Acosh, -kInf, 0, kNaN},
                          {Op::Acosh, kInf, 0, kInf},
                          {Op::Atanh, -0.0, 0, -0.0},
                          {Op::Atanh, -1, 0, -kInf},
                          {Op::Atanh, 2, 0, kNaN},
                          {Op::Atanh, kInf, 0, kNaN},
                          {Op::Log10, 1000, 0, 3},
                          {Op::Log10, 0x1p-1, 0, std::log10(0.5)},
                          {Op::Log10, 0.0, 0, -kInf},
                          {Op::Log10, -1, 0, kNaN},
                          {Op::Log10, 1e10, 0, 10},
                          {Op::Atan2, 0.0, -0.0, kPi},
                          {Op::Atan2, -0.0, -0.0, -kPi},
                          {Op::Atan2, -0.0, 0.0, -0.0},
                          {Op::Atan2, -0.0, 1, -0.0},
                          {Op::Atan2, 0.0, -1, kPi},
                          {Op::Atan2, 1, 0.0, kPi / 2},
                          {Op::Atan2, -1, -0.0, -kPi / 2},
                          {Op::Atan2, 1, -kInf, kPi},
                          {Op::Atan2, -1, kInf, -0.0},
                          {Op::Atan2, kInf, 3, kPi / 2},
                          {Op::Atan2, kNaN, 1, kNaN},
                          {Op::Atan2, 1, kNaN, kNaN},
                          {Op::Pow, kNaN, 0, 1},
                          {Op::Pow, kNaN, -0.0, 1},
                          {Op::Pow, 1, kNaN, 1},
                          {Op::Pow, 1, kInf, 1},
                          {Op::Pow, -1, kInf, 1},
                          {Op::Pow, -1, -kInf, 1},
                          {Op::Pow, -1, kNaN, kNaN},
                          {Op::Pow, 0.0, -3, kInf},
                          {Op::Pow, -0.0, -3, -kInf},
                          {Op::Pow, -0.0, -2, kInf},
                          {Op::Pow, -0.0, 3, -0.0},
                          {Op::Pow, -0.0, 2, 0.0},
                          {Op::Pow, -0.0, 0.5, 0.0},
                          {Op::Pow, 0.0, -kInf, kInf},
                          {Op::Pow, 0.0, kNaN, kNaN},
                          {Op::Pow, 0.5, kInf, 0.0},
                          {Op::Pow, 0.5, -kInf, kInf},
                          {Op::Pow, -2, kInf, kInf},
                          {Op::Pow, -2, -kInf, 0.0},
                          {Op::Pow, kInf, -1, 0.0},
                          {Op::Pow, kInf, 1e-3, kInf},
                          {Op::Pow, -kInf, 3, -kInf},
                          {Op::Pow, -kInf, 2, kInf},
                          {Op::Pow, -kInf, -3, -0.0},
                          {Op::Pow, -kInf, 0.5, kInf},
                          {Op::Pow, kInf, kNaN, kNaN},
                          {Op::Pow, -8, 1.0 / 3, kNaN},
                          {Op::Pow, -2, 3, -8},
                          {Op::Pow, 3, 4, 81},
                          {Op::Pow, 10, 3, 1000},
                          {Op::Pow, 2, -126, 0x1p-126},
                          {Op::Pow, 2, -149, 0x1p-149}};
  check_values<float>(values);
  check_values<double>(values);
  for (const Function& f : kFunctions) {
    CHECK(std::isnan(expanded_at<float>(f.op, kNaN)));
    CHECK(std::isnan(expanded_at<double>(f.op, kNaN)));
  }
}

TEMPLATE_TEST_CASE("exp of what is never above 0 is shorter and has the bits of exp", "[math]", float, double) {
  using Bits = std::conditional_t<sizeof(TestType) == 4, uint32_t, uint64_t>;
  std::mt19937_64 rng(11);
  std::vector<TestType> x = samples<TestType>(rng, 8192);
  Arena g;
  const UOp p = param(g, 0, dtype_of<TestType>::value, {8192}), size = alu(Op::Abs, {p});
  const auto length = [](UOp root) { return topological(std::span(&root, 1)).size(); };
  const size_t general = length(codegen::expand_math(g, exp(p)));
  const std::vector<Array> inputs{Array::of<TestType>({8192}, x)};
  const auto run = [&](UOp root) { return runtime::interpret(std::span(&root, 1), {.params = inputs})[0]; };
  int form = 0;
  for (UOp at :
       {where(le(like(p, 0), p), -p, p), -size, size * -3.0, -size * 0.1, -(p * p), p * p * -0.5, -(p * p) * 0.5}) {
    INFO("form " << form++);
    const UOp root = codegen::expand_math(g, exp(at));
    CHECK(length(root) < general + length(at) - 1);
    const Array out = run(root), arguments = run(at);
    const std::vector<TestType> want =
        expanded<TestType>(Op::Exp, {arguments.as<TestType>().begin(), arguments.as<TestType>().end()});
    for (size_t i = 0; i < x.size(); ++i)
      if (std::isnan(want[i]) ? !std::isnan(out.as<TestType>()[i])
                              : std::bit_cast<Bits>(out.as<TestType>()[i]) != std::bit_cast<Bits>(want[i]))
        FAIL_CHECK("of " << x[i]);
  }
}

TEST_CASE("the float remainder has NumPy's special values", "[math]") {
  const Value values[] = {{Op::FMod, 5, 3, 2},         {Op::FMod, -5, 3, 1},
                          {Op::FMod, 5, -3, -1},       {Op::FMod, -5, -3, -2},
                          {Op::FMod, 6, 3, 0.0},       {Op::FMod, 6, -3, -0.0},
                          {Op::FMod, -0.0, 3, 0.0},    {Op::FMod, 0.0, -3, -0.0},
                          {Op::FMod, 5, kInf, 5},      {Op::FMod, -5, kInf, kInf},
                          {Op::FMod, 5, -kInf, -kInf}, {Op::FMod, -5, -kInf, -5},
                          {Op::FMod, kInf, 3, kNaN},   {Op::FMod, 5, 0.0, kNaN},
                          {Op::FMod, 0.0, 0.0, kNaN},  {Op::FMod, kInf, kInf, kNaN},
                          {Op::FMod, kNaN, 1, kNaN},   {Op::FMod, 1, kNaN, kNaN},
                          {Op::FMod, 5.5, 0.25, 0.0},  {Op::FMod, -1e-30, 1, 1},
                          {Op::FMod, 0x1p120, 3, 1},   {Op::FMod, 0x1p-20, 0x1.8p-148, 0x1p-148}};
  check_values<float>(values);
  const Value huge[] = {
      {Op::FMod, 0x1p1001, 3, 2}, {Op::FMod, 1e300, -0x1p-1074, -0.0}, {Op::FMod, 0x1.8p80, 0x1.4p79, 0x1p78}};
  check_values<double>(huge);
}

TEST_CASE("every op that needs an expansion has one, and none is left", "[math]") {
  int expansions = 0;
  for (int o = 0; o < kOpCount; ++o) {
    const Op op = static_cast<Op>(o);
    if (!has(op, kDecomposed)) continue;
    for (DType d : {DType::F32, DType::F64}) {
      Arena g;
      std::vector<UOp> src;
      for (int i = 0; i < info(op).arity; ++i) src.push_back(argument(g, i, d));
      const UOp twice = alu(Op::Add, {alu(op, src), alu(op, src)});
      const UOp root = codegen::expand_math(g, twice);
      CHECK(root->dtype == d);
      for (UOp n : topological(root)) CHECK_FALSE(has(n->op, kDecomposed));
      CHECK(codegen::expand_math(g, root) == root);
      CHECK(codegen::max_ulp(op, d) >= 0);
      ++expansions;
    }
  }
  CHECK(expansions == 44);
}

TEST_CASE("expand_math works at any depth, into another graph, and refuses other types", "[math]") {
  Arena from, to;
  UOp chain = param(from, 0, DType::F32, {2});
  for (int i = 0; i < 100000; ++i) chain = i % 1000 ? chain + chain : exp(chain);
  const UOp copy = codegen::expand_math(to, chain);
  for (UOp n : topological(copy)) REQUIRE((n->graph == &to && !has(n->op, kDecomposed)));
  const UOp half = argument(from, 0, DType::F16);
  CHECK_THROWS_AS(codegen::expand_math(from, exp(half)), InternalError);
  CHECK_THROWS_AS(codegen::max_ulp(Op::Exp, DType::I32), InternalError);
  CHECK_THROWS_AS(codegen::max_ulp(Op::Add, DType::F32), InternalError);
}
