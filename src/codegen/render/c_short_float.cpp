// Conversions between float32 and the 16-bit floats, which are unsigned short in memory and in registers. They use an
// instruction if compiler and target have one, else bit arithmetic. Selects are masks there, so that one text serves
// scalars and vectors.
#include <fmt/format.h>

#include <string_view>

#include "codegen/render/c_spelling.h"
#include "ir/short_float.h"

namespace sinter::codegen {
namespace {

using runtime::Dialect;

// Bit arithmetic: from $S, the bits in a 32-bit word, to float32; and from float32 to such a word.
//
// The bits shifted into place are the number except for the exponent bias. A product with a power of two corrects it,
// for denormals too. Infinity and NaN get the all-ones exponent.
constexpr const char* kFromHalf =
    "($S h) {\n  const $S size = h & 0x7fff, moved = size << 13;\n  $T x;\n  __builtin_memcpy(&x, &moved, sizeof x);\n"
    "  x *= 5192296858534827628530496329220096.0f;\n  $S b;\n  __builtin_memcpy(&b, &x, sizeof x);\n"
    "  b |= (($S)((0x7bff - ($I)size) >> 31) & 0x7f800000) | (h & 0x8000) << 16;\n  __builtin_memcpy(&x, &b, sizeof "
    "x);\n"
    "  return x;\n}";
// Normal results: add half a unit in the last place, minus one if the last bit is even, then truncate (round to nearest
// even). Denormal results: adding 0.5 rounds, because the last bit of 0.5 is the smallest denormal half.
constexpr const char* kToHalf =
    "($S x) {\n  $T b;\n  __builtin_memcpy(&b, &x, sizeof x);\n  const $T size = b & 0x7fffffff;\n"
    "  const $T normal = (size + 0xc8000fff + ((size >> 13) & 1)) >> 13;\n  $S low;\n"
    "  __builtin_memcpy(&low, &size, sizeof x);\n  low += 0.5f;\n  $T denormal;\n"
    "  __builtin_memcpy(&denormal, &low, sizeof x);\n  denormal -= 0x3f000000;\n"
    "  const $T tiny = ($T)((($I)size - 0x38800000) >> 31), over = ($T)((0x477fffff - ($I)size) >> 31);\n"
    "  const $T nan = ($T)((0x7f800000 - ($I)size) >> 31);\n"
    "  const $T finite = (normal & ~tiny) | (denormal & tiny);\n"
    "  return (finite & ~over) | (over & 0x7c00) | (nan & 0x200) | ((b >> 16) & 0x8000);\n}";
constexpr const char* kFromBrain =
    "($S h) {\n  const $S b = h << 16;\n  $T x;\n  __builtin_memcpy(&x, &b, sizeof x);\n  return x;\n}";
constexpr const char* kToBrain =
    "($S x) {\n  $T b;\n  __builtin_memcpy(&b, &x, sizeof x);\n"
    "  const $T nan = ($T)((0x7f800000 - ($I)(b & 0x7fffffff)) >> 31);\n"
    "  return (((b + 0x7fff + ((b >> 16) & 1)) & ~nan) | ((b | 0x400000) & nan)) >> 16;\n}";

// By instruction, directly between $S and $T. {} is the size of a vector in bytes.
constexpr const char* kFromHalfCuda =
    "($S x) {\n  $T r;\n  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(r) : \"h\"(x));\n  return r;\n}";
constexpr const char* kToHalfCuda =
    "($S x) {\n  $T r;\n  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(r) : \"f\"(x));\n  return r;\n}";
constexpr const char* kToBrainCuda =
    "($S x) {\n  $T r;\n  asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(r) : \"f\"(x));\n  return r;\n}";
constexpr const char* kFromHalfClang = "($S x) {\n  _Float16 h;\n  __builtin_memcpy(&h, &x, sizeof h);\n  return h;\n}";
constexpr const char* kToHalfClang =
    "($S x) {\n  const _Float16 h = (_Float16)x;\n  $T r;\n  __builtin_memcpy(&r, &h, sizeof r);\n  return r;\n}";
constexpr std::string_view kFromHalves =
    "($S x) {{\n  typedef _Float16 halves __attribute__((vector_size({})));\n"
    "  return __builtin_convertvector((halves)x, $T);\n}}";
constexpr std::string_view kToHalves =
    "($S x) {{\n  typedef _Float16 halves __attribute__((vector_size({})));\n"
    "  return ($T)__builtin_convertvector(x, halves);\n}}";

}  // namespace

std::string CSpelling::short_float(Type result, Type source, const std::string& value) {
  const bool widens = ir::is_short_float(source.dtype);
  const bool half = (widens ? source : result).dtype == DType::F16;
  const int lanes = result.lanes;
  const char* name = widens ? "widen" : "narrow";
  if (half && cuda())
    return fmt::format("{}({})", helper(name, result, source, widens ? kFromHalfCuda : kToHalfCuda), value);
  if (!half && !widens && cuda() && target_.sm >= 80)
    return fmt::format("{}({})", helper(name, result, source, kToBrainCuda), value);
  // F16C, which every machine with AVX2 has, is what Clang uses for _Float16.
  if (half && target_.dialect == Dialect::Clang && (target_.isa == "x86-64-v3" || target_.isa == "x86-64-v4")) {
    const std::string body = lanes == 1 ? (widens ? kFromHalfClang : kToHalfClang)
                                        : fmt::format(fmt::runtime(widens ? kFromHalves : kToHalves), 2 * lanes);
    return fmt::format("{}({})", helper(name, result, source, body), value);
  }
  const Type word{DType::U32, lanes}, bits{DType::U16, lanes};
  name = half ? "half" : "brain";
  if (!widens) {
    const std::string made[] = {fmt::format("{}({})", helper(name, word, source, half ? kToHalf : kToBrain), value)};
    return fmt::format("({})({})", type(result), alu(Op::Cast, bits, word, made));
  }
  const std::string given[] = {"(" + value + ")"};
  const std::string widened = alu(Op::Cast, word, bits, given);
  return fmt::format("{}({})", helper(name, result, word, half ? kFromHalf : kFromBrain), widened);
}

}  // namespace sinter::codegen
