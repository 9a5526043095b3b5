// One switch per type family. Nothing here depends on a graph.
#include "ir/scalar_eval.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "ir/combine.h"
#include "ir/denormals.h"
#include "ir/short_float.h"
#include "sinter/error.h"

namespace sinter::ir {
namespace {

[[noreturn]] void throw_undefined(Op op, DType dtype) {
  throw InternalError(fmt::format("evaluating {}: no meaning on {}", info(op).name, name_of(dtype)));
}

Scalar boolean_of(bool b) { return Scalar::of(DType::Bool, b ? 1 : 0); }

/// NumPy's remainder: the sign of y. Exact, except for the one addition that corrects the sign.
double floor_remainder(double x, double y) {
  double m = std::fmod(x, y);
  if (m != 0) return (y < 0) != (m < 0) ? m + y : m;
  return std::copysign(m, y);
}

/// Halley's iteration, from S. Winitzki's approximation ("A handy approximation for the error function and its
/// inverse", 2008), which is within 0.4 % everywhere. Each round triples the digits.
double inverse_erf(double x) {
  const double size = std::fabs(x);
  if (!(size < 1)) return size == 1 ? std::copysign(std::numeric_limits<double>::infinity(), x) : std::nan("");
  if (size < 1e-300) return x / std::numbers::inv_sqrtpi * 0.5;
  const double log = std::log1p(-size * size), half = 2 / (std::numbers::pi * 0.147) + log / 2;
  double y = std::sqrt(std::sqrt(half * half - log / 0.147) - half);
  if (size < 1e-3) y = size / std::numbers::inv_sqrtpi * 0.5;  // the difference above cancels
  for (int round = 0; round < 3; ++round) {
    const double error = size < 0.5 ? std::erf(y) - size : (1 - size) - std::erfc(y);
    const double step = error / (2 * std::numbers::inv_sqrtpi * std::exp(-y * y));
    y -= step / (1 + y * step);
  }
  return std::copysign(y, x);
}

/// In double. Rounding + - * / sqrt again to float32 gives what rounding once would: double has more than twice the
/// digits. Fma is the exception and has its own case.
Scalar evaluate_float(Op op, DType dtype, std::span<const Scalar> a) {
  const double x = a[0].as_double();
  const double y = a.size() > 1 ? a[1].as_double() : 0;
  auto number = [dtype](double v) { return Scalar::of(dtype, v); };
  switch (op) {
    case Op::Neg: return number(-x);
    case Op::Abs: return number(std::fabs(x));
    case Op::Sqrt: return number(std::sqrt(x));
    case Op::Floor: return number(std::floor(x));
    case Op::Trunc: return number(std::trunc(x));
    case Op::Round: return number(std::nearbyint(x));
    case Op::Exp: return number(std::exp(x));
    case Op::Exp2: return number(std::exp2(x));
    case Op::Log: return number(std::log(x));
    case Op::Log1p: return number(std::log1p(x));
    case Op::Expm1: return number(std::expm1(x));
    case Op::Log2: return number(std::log2(x));
    case Op::Log10: return number(std::log10(x));
    case Op::Sin: return number(std::sin(x));
    case Op::Cos: return number(std::cos(x));
    case Op::Tan: return number(std::tan(x));
    case Op::Tanh: return number(std::tanh(x));
    case Op::Sinh: return number(std::sinh(x));
    case Op::Cosh: return number(std::cosh(x));
    case Op::Asinh: return number(std::asinh(x));
    case Op::Acosh: return number(std::acosh(x));
    case Op::Atanh: return number(std::atanh(x));
    case Op::Erf: return number(std::erf(x));
    case Op::Erfc: return number(std::erfc(x));
    case Op::Erfinv: return number(inverse_erf(x));
    case Op::Add: return number(x + y);
    case Op::Sub: return number(x - y);
    case Op::Mul: return number(x * y);
    case Op::Div: return number(x / y);
    case Op::FMod: return number(floor_remainder(x, y));
    case Op::Pow: return number(std::pow(x, y));
    case Op::Atan2: return number(std::atan2(x, y));
    case Op::Ldexp: return number(ldexp_clamped(x, y));
    case Op::Max: return x >= y || std::isnan(x) ? a[0] : a[1];
    case Op::Min: return x <= y || std::isnan(x) ? a[0] : a[1];
    case Op::Lt: return boolean_of(x < y);
    case Op::Le: return boolean_of(x <= y);
    case Op::Eq: return boolean_of(x == y);
    case Op::Ne: return boolean_of(x != y);
    case Op::FarRemainder: return x < 0 ? number(std::fmod(y, a[2].as_double())) : a[0];
    case Op::Fma:
      if (dtype == DType::F64) return number(std::fma(x, y, a[2].as_double()));
      return number(static_cast<double>(
          std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(a[2].as_double()))));
    default: throw_undefined(op, dtype);
  }
}

int64_t floor_divide(int64_t x, int64_t y) {
  if (y == 0) return 0;
  if (y == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(x));
  return x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0);
}
int64_t floor_modulo(int64_t x, int64_t y) {
  if (y == 0 || y == -1) return 0;
  int64_t m = x % y;
  return m != 0 && (m < 0) != (y < 0) ? m + y : m;
}

/// Values of all integer types; bool is 0 and 1. Arithmetic is on uint64, where wrapping is defined.
Scalar evaluate_integer(Op op, DType dtype, DType from, std::span<const Scalar> a) {
  const int64_t x = a[0].as_int();
  const int64_t y = a.size() > 1 ? a[1].as_int() : 0;
  const uint64_t ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
  const bool wide = from == DType::U64, truth = from == DType::Bool;
  const bool less = wide ? ux < uy : x < y;
  const unsigned shift = truth ? 0 : static_cast<unsigned>(uy % (8 * size_of(from)));
  auto number = [dtype](uint64_t v) { return Scalar::of(dtype, static_cast<int64_t>(v)); };
  switch (op) {
    case Op::Neg: return number(0 - ux);
    case Op::Abs: return number(x < 0 && !wide ? 0 - ux : ux);
    case Op::Not: return truth ? boolean_of(!x) : number(~ux);
    case Op::Add: return number(ux + uy);
    case Op::Sub: return number(ux - uy);
    case Op::Mul: return number(ux * uy);
    case Op::IDiv: return wide ? number(uy ? ux / uy : 0) : number(static_cast<uint64_t>(floor_divide(x, y)));
    case Op::Mod: return wide ? number(uy ? ux % uy : 0) : number(static_cast<uint64_t>(floor_modulo(x, y)));
    case Op::Max: return less ? a[1] : a[0];
    case Op::Min: return less || x == y ? a[0] : a[1];
    case Op::Lt: return boolean_of(less);
    case Op::Le: return boolean_of(less || x == y);
    case Op::Eq: return boolean_of(x == y);
    case Op::Ne: return boolean_of(x != y);
    case Op::And: return number(ux & uy);
    case Op::Or: return number(ux | uy);
    case Op::Xor: return number(ux ^ uy);
    case Op::Shl: return number(ux << shift);
    case Op::Shr: return number(wide ? ux >> shift : static_cast<uint64_t>(x >> shift));
    case Op::Threefry: return number(threefry(ux, uy));
    default: throw_undefined(op, from);
  }
}

/// Flushes a number that is denormal in `dtype`. 16-bit floats compute in float32, where no float16 is denormal.
Scalar flushed(DType dtype, Scalar x) {
  const double least = dtype == DType::F64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  const double v = x.as_double();
  return std::fabs(v) < least ? Scalar::of(dtype, std::copysign(0.0, v)) : x;
}

/// As the machine computes with denormals flushed. Ops that only set the sign do not flush.
Scalar evaluate_flushed_float(Op op, DType dtype, DType from, std::span<const Scalar> args) {
  if (op == Op::Neg || op == Op::Abs) return evaluate_float(op, dtype, args);
  Scalar normal[3];
  for (size_t i = 0; i < args.size(); ++i) normal[i] = flushed(from, args[i]);
  const Scalar result = evaluate_float(op, dtype, {normal, args.size()});
  return is_float(dtype) ? flushed(dtype, result) : result;
}

Scalar convert(DType to, DType from, Scalar x) {
  if (is_float(from)) return Scalar::of(to, x.as_double());
  if (from == DType::U64 && is_float(to)) {
    // Integer to result type in one rounding; through double it would be rounded twice.
    return Scalar::of(
        to, to == DType::F64 ? static_cast<double>(x.bits()) : static_cast<double>(static_cast<float>(x.bits())));
  }
  return Scalar::of(to, x.as_int());
}

}  // namespace

Scalar evaluate(Op op, DType dtype, DType from, std::span<const Scalar> args) {
  if (info(op).cls != OpClass::Alu || static_cast<int>(args.size()) != info(op).arity)
    throw InternalError(fmt::format("evaluating {} of {} numbers", info(op).name, args.size()));
  switch (op) {
    case Op::Where: return args[0].as_int() ? args[1] : args[2];
    case Op::Check: return args[0];
    case Op::Cast: return convert(dtype, from, args[0]);
    case Op::Bitcast: return from_bits(dtype, to_bits(from, args[0]));
    default: break;
  }
  if (!is_float(from)) return evaluate_integer(op, dtype, from, args);
  const DType computed = compute_type(dtype);
  const Scalar result = flushes_denormals() ? evaluate_flushed_float(op, computed, compute_type(from), args)
                                            : evaluate_float(op, computed, args);
  return is_short_float(dtype) ? Scalar::of(dtype, result.as_double()) : result;
}

uint64_t to_bits(DType dtype, Scalar value) {
  if (dtype == DType::F64) return value.bits();
  if (dtype == DType::F32) return std::bit_cast<uint32_t>(static_cast<float>(value.as_double()));
  if (is_short_float(dtype)) return short_float_bits(dtype, value.as_double());
  if (is_float(dtype)) throw_undefined(Op::Bitcast, dtype);
  size_t bits = 8 * size_of(dtype);
  return bits == 64 ? value.bits() : value.bits() & ((uint64_t{1} << bits) - 1);
}

Scalar from_bits(DType dtype, uint64_t bits) {
  if (dtype == DType::F64) return Scalar::of(dtype, std::bit_cast<double>(bits));
  if (dtype == DType::F32)
    return Scalar::of(dtype, static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
  if (is_short_float(dtype)) return Scalar::of(dtype, short_float_value(dtype, static_cast<uint16_t>(bits)));
  if (is_float(dtype)) throw_undefined(Op::Bitcast, dtype);
  return Scalar::of(dtype, static_cast<int64_t>(bits));
}

Scalar updated(ScatterMode mode, DType dtype, Scalar element, Scalar update) {
  const Scalar both[] = {element, update};
  return mode == ScatterMode::Set ? update : evaluate(op_of(mode), dtype, both);
}

uint64_t threefry(uint64_t counter, uint64_t key) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  const uint32_t ks[3] = {k0, k1, 0x1BD11BDAu ^ k0 ^ k1};
  uint32_t x0 = static_cast<uint32_t>(counter) + ks[0], x1 = static_cast<uint32_t>(counter >> 32) + ks[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (int r : kRotations[group % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, r) ^ x0;
    }
    x0 += ks[(group + 1) % 3];
    x1 += ks[(group + 2) % 3] + group + 1;
  }
  return static_cast<uint64_t>(x1) << 32 | x0;
}

}  // namespace sinter::ir
