// The spelling tables. Placeholders in patterns: $0 $1 $2 operands, $T type of the result, $S type of the sources,
// $U unsigned type in which an integer wraps, $I signed integer of the sources' width, $F "f" for float32, $B bits of
// an element.
#include "codegen/render/c_spelling.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

#include "ir/scalar_eval.h"
#include "ir/short_float.h"
#include "sinter/error.h"

namespace sinter::codegen {
namespace {

using runtime::Dialect;

/// Patterns of one op. "@name" calls a function of kHelpers. Null: undefined on the type; for vectors: lane by lane.
struct OpSpelling {
  Op op;
  const char* floats;
  const char* integers;
  const char* truth;
  const char* float_vectors;
  const char* integer_vectors;
  const char* soft;  ///< scalar floats without an instruction in compiler or target; null: there always is one
};

// Cast and Bitcast depend on two types: see conversion(). Threefry: see threefry(). A vector of bool is a vector of
// uint8 with values 0 and 1.
constexpr OpSpelling kOpSpellings[] = {
    {Op::Neg, "-$0", "($T)(0 - ($U)$0)", nullptr, "-$0", "($T)(0 - ($U)$0)", nullptr},
    {Op::Abs, "__builtin_fabs$F($0)", "@abs", nullptr, "__builtin_elementwise_abs($0)", nullptr, nullptr},
    {Op::Not, nullptr, "($T)~$0", "!$0", nullptr, "~$0", nullptr},
    {Op::Sqrt, "__builtin_sqrt$F($0)", nullptr, nullptr, "__builtin_elementwise_sqrt($0)", nullptr, nullptr},
    {Op::Floor, "__builtin_floor$F($0)", nullptr, nullptr, "__builtin_elementwise_floor($0)", nullptr, "@floor"},
    {Op::Trunc, "__builtin_trunc$F($0)", nullptr, nullptr, "__builtin_elementwise_trunc($0)", nullptr, "@trunc"},
    {Op::Round, "__builtin_roundeven$F($0)", nullptr, nullptr, "__builtin_elementwise_roundeven($0)", nullptr,
     "@round"},
    {Op::Add, "$0 + $1", "($T)(($U)$0 + ($U)$1)", nullptr, "$0 + $1", "($T)(($U)$0 + ($U)$1)", nullptr},
    {Op::Sub, "$0 - $1", "($T)(($U)$0 - ($U)$1)", nullptr, "$0 - $1", "($T)(($U)$0 - ($U)$1)", nullptr},
    {Op::Mul, "$0 * $1", "($T)(($U)$0 * ($U)$1)", nullptr, "$0 * $1", "($T)(($U)$0 * ($U)$1)", nullptr},
    {Op::Div, "$0 / $1", nullptr, nullptr, "$0 / $1", nullptr, nullptr},
    {Op::Ldexp, "@ldexp", nullptr, nullptr, "@vldexp", nullptr, nullptr},
    {Op::IDiv, nullptr, "@idiv", nullptr, nullptr, nullptr, nullptr},
    {Op::Mod, nullptr, "@mod", nullptr, nullptr, nullptr, nullptr},
    {Op::Max, "@max", "@max", nullptr, "@vmax", "@vmax", nullptr},
    {Op::Min, "@min", "@min", nullptr, "@vmin", "@vmin", nullptr},
    {Op::Lt, "$0 < $1", "$0 < $1", "$0 < $1", "@lt", "@lt", nullptr},
    {Op::Le, "$0 <= $1", "$0 <= $1", "$0 <= $1", "@le", "@le", nullptr},
    {Op::Eq, "$0 == $1", "$0 == $1", "$0 == $1", "@eq", "@eq", nullptr},
    {Op::Ne, "$0 != $1", "$0 != $1", "$0 != $1", "@ne", "@ne", nullptr},
    {Op::And, nullptr, "($T)($0 & $1)", "$0 & $1", nullptr, "$0 & $1", nullptr},
    {Op::Or, nullptr, "($T)($0 | $1)", "$0 | $1", nullptr, "$0 | $1", nullptr},
    {Op::Xor, nullptr, "($T)($0 ^ $1)", "$0 ^ $1", nullptr, "$0 ^ $1", nullptr},
    {Op::Shl, nullptr, "($T)(($U)$0 << ($1 & ($B - 1)))", nullptr, nullptr, "($T)(($U)$0 << ($U)($1 & ($B - 1)))",
     nullptr},
    {Op::Shr, nullptr, "($T)($0 >> ($1 & ($B - 1)))", nullptr, nullptr, "$0 >> ($1 & ($B - 1))", nullptr},
    {Op::Where, "$0 ? $1 : $2", "$0 ? $1 : $2", "$0 ? $1 : $2", "@select", "@select", nullptr},
    {Op::Fma, "__builtin_fma$F($0, $1, $2)", nullptr, nullptr, "__builtin_elementwise_fma($0, $1, $2)", nullptr,
     "@fma$F"},
    {Op::FarRemainder, "@far", nullptr, nullptr, nullptr, nullptr, nullptr},
};

const OpSpelling* spelling_of(Op op) {
  for (const OpSpelling& row : kOpSpellings)
    if (row.op == op) return &row;
  return nullptr;
}

struct Helper {
  const char* name;
  const char* text;  ///< parameters and body; returns $T
};

constexpr Helper kHelpers[] = {
    // NaN wins. Of two equal numbers the first is returned.
    {"max", "($S x, $S y) { return x >= y || x != x ? x : y; }"},
    {"min", "($S x, $S y) { return x <= y || x != x ? x : y; }"},
    {"abs", "($S x) { return x < 0 ? ($T)(0 - ($U)x) : x; }"},
    // C truncates. Floor differs if the remainder is not 0 and the signs differ. x/0 = 0, MIN/-1 wraps.
    {"udiv", "($S x, $S y) { return y ? x / y : 0; }"},
    {"umod", "($S x, $S y) { return y ? x % y : 0; }"},
    // Of vectors, whose divisor is mostly a constant. (y == 0) is -1, by which a divisor of 0 becomes 1.
    {"udivs", "($S x, $S y) { const $S zero = ($S)(y == 0); return x / (y - zero) & ~zero; }"},
    {"umods", "($S x, $S y) { const $S zero = ($S)(y == 0); return x % (y - zero) & ~zero; }"},
    {"idiv",
     "($S x, $S y) {\n  if (y == 0) return 0;\n  if (y == -1) return ($T)(0 - ($U)x);\n"
     "  return ($T)(x / y - (x % y != 0 && (x < 0) != (y < 0)));\n}"},
    {"mod",
     "($S x, $S y) {\n  if (y == 0 || y == -1) return 0;\n  const $T r = ($T)(x % y);\n"
     "  return r != 0 && (r < 0) != (y < 0) ? ($T)(r + y) : r;\n}"},
    // The low bits of y + $magic are y plus twice the exponent bias. Its halves are the biased exponents of two normal
    // factors. The first product is exact.
    {"ldexp",
     "($S x, $S y) {\n  const $S s = y + $magic;\n  $U n, half;\n  __builtin_memcpy(&n, &s, sizeof n);\n  half = n >> "
     "1;\n"
     "  n = (n - half) << $digits;\n  half <<= $digits;\n  $S p, q;\n  __builtin_memcpy(&p, &half, sizeof p);\n"
     "  __builtin_memcpy(&q, &n, sizeof q);\n  return x * p * q;\n}"},
    {"vldexp",
     "($S x, $S y) {\n  const $U n = ($U)(y + $magic), half = n >> 1;\n"
     "  return x * ($T)(half << $digits) * ($T)((n - half) << $digits);\n}"},
    // From $R on every float is an integer. Below, adding and subtracting $R rounds to even. The sign of zero is kept.
    {"round",
     "($S x) {\n  const $S a = __builtin_fabs$F(x);\n  return a < $R ? __builtin_copysign$F((a + $R) - $R, x) : x;\n}"},
    {"floor",
     "($S x) {\n  const $S a = __builtin_fabs$F(x), r = a < $R ? __builtin_copysign$F((a + $R) - $R, x) : x;\n"
     "  return r > x ? r - 1 : r;\n}"},
    {"trunc",
     "($S x) {\n  const $S a = __builtin_fabs$F(x);\n  if (!(a < $R)) return x;\n  const $S r = (a + $R) - $R;\n"
     "  return __builtin_copysign$F(r > a ? r - 1 : r, x);\n}"},
    // The product is exact in double. The sum is rounded to odd in double, so that rounding it to float does not round
    // twice (Boldo and Melquiond, Emulation of a FMA and correctly rounded sums, 2008).
    {"fmaf",
     "(f32 x, f32 y, f32 z) {\n  const $D p = ($D)x * y, s = p + z, q = s - p, e = (p - (s - q)) + (z - q);\n"
     "  $W b;\n  __builtin_memcpy(&b, &s, 8);\n  if (s - s == 0 && e != 0 && !(b & 1)) b += (e > 0) == (s > 0) ? 1 : "
     "-1;\n"
     "  $D odd;\n  __builtin_memcpy(&odd, &b, 8);\n  return (f32)odd;\n}"},
    // Integer arithmetic: a product of 106 bits, both addends aligned to one exponent with a sticky bit, one rounding.
    {"fma",
     "($D x, $D y, $D z) {\n"
     "  if (x - x == 0 && y - y == 0 && z - z != 0) return z;\n"  // the product may overflow, but is finite
     "  if (!(x - x == 0 && y - y == 0 && z - z == 0) || x == 0 || y == 0) return x * y + z;\n"
     "  if (z == 0) return x * y;\n"
     "  $W b[3];\n  int e[3], n[3];\n  const $D v[3] = {x, y, z};\n"
     "  for (int i = 0; i < 3; ++i) {\n"
     "    __builtin_memcpy(&b[i], &v[i], 8);\n"
     "    n[i] = b[i] >> 63;\n    e[i] = (int)(b[i] >> 52 & 2047);\n    b[i] &= (1ull << 52) - 1;\n"
     "    if (e[i]) b[i] |= 1ull << 52;\n    else e[i] = 1;\n"
     "    while (!(b[i] >> 52)) b[i] <<= 1, --e[i];\n"
     "  }\n"
     "  unsigned __int128 p = (unsigned __int128)b[0] * b[1] << 20, q = (unsigned __int128)b[2] << 73;\n"
     "  int pe = e[0] + e[1] - 1022, qe = e[2], pn = n[0] ^ n[1], qn = n[2];\n"
     "  if (!(p >> 125)) p <<= 1, --pe;\n"
     "  if (pe < qe || (pe == qe && p < q)) {\n"
     "    const unsigned __int128 m = p;\n    const int i = pe, k = pn;\n    p = q, pe = qe, pn = qn;\n    q = m, qe = "
     "i, qn = k;\n  }\n"
     "  const int d = pe - qe;\n"
     "  if (d) q = d > 126 ? 1 : q >> d | ((q << (128 - d)) != 0);\n"
     "  p = pn == qn ? p + q : p - q;\n  if (!p) return 0;\n"
     "  if (p >> 126) p = p >> 1 | (p & 1), ++pe;\n  while (!(p >> 125)) p <<= 1, --pe;\n"
     "  const int drop = pe < 1 ? 74 - pe : 73;\n  $W m = 0;\n"
     "  if (drop < 127) {\n"
     "    const unsigned __int128 half = (unsigned __int128)1 << (drop - 1), rest = p & (2 * half - 1);\n"
     "    m = ($W)(p >> drop);\n    m += rest > half || (rest == half && (m & 1));\n  }\n"
     "  if (pe >= 1) {\n    if (m >> 53) m >>= 1, ++pe;\n    m = pe > 2046 ? 2047ull << 52 : (m & ((1ull << 52) - 1)) "
     "| ($W)pe << 52;\n  }\n"
     "  m |= ($W)pn << 63;\n  $D r;\n  __builtin_memcpy(&r, &m, 8);\n  return r;\n}"},
    // A long division of the significands: of 53 bits, eleven of the quotient fit into a step.
    {"far",
     "($S r, $S x, $S y) {\n  if (!(r < 0)) return r;\n  if (x < y) return x;\n  $U a, b;\n  __builtin_memcpy(&a, &x, "
     "sizeof a);\n"
     "  __builtin_memcpy(&b, &y, sizeof b);\n  const $W one = 1ull << $digits;\n"
     "  int e = (int)(b >> $digits), k = (int)(a >> $digits);\n  $W m = a & (one - 1), n = b & (one - 1);\n"
     "  if (k) m |= one;\n  else k = 1;\n  if (e) n |= one;\n  else e = 1;\n"
     "  m %= n;\n  for (k -= e; k > 0 && m; k -= 11) m = (m << (k < 11 ? k : 11)) % n;\n"
     "  for (; m && !(m >> $digits) && e > 1; --e) m <<= 1;\n"
     "  a = ($U)(m >> $digits ? (m - one) | ($W)e << $digits : m);\n"
     "  __builtin_memcpy(&r, &a, sizeof r);\n  return r;\n}"},
    // Vector comparisons yield -1 or 0 per lane. x is the loop-carried operand, so the NaN test of y is off the
    // critical path. Of two NaNs y is returned (decision 0025).
    {"vmax",
     "($S x, $S y) {\n  const $I m = ($I)(y > x), n = ($I)(y != y);\n  const $I one = (($I)y & m) | (($I)x & ~m);\n"
     "  return ($T)((($I)y & n) | (one & ~n));\n}"},
    {"vmin",
     "($S x, $S y) {\n  const $I m = ($I)(y < x), n = ($I)(y != y);\n  const $I one = (($I)y & m) | (($I)x & ~m);\n"
     "  return ($T)((($I)y & n) | (one & ~n));\n}"},
    {"select",
     "($M c, $S x, $S y) {\n  const $I m = -__builtin_convertvector(c, $I);\n  return ($T)((($I)x & m) | (($I)y & "
     "~m));\n}"},
    {"lt", "($S x, $S y) { return __builtin_convertvector(($I)(x < y), $T) & 1; }"},
    {"le", "($S x, $S y) { return __builtin_convertvector(($I)(x <= y), $T) & 1; }"},
    {"eq", "($S x, $S y) { return __builtin_convertvector(($I)(x == y), $T) & 1; }"},
    {"ne", "($S x, $S y) { return __builtin_convertvector(($I)(x != y), $T) & 1; }"},
    {"splat", "($S x) { return x - ($T){0}; }"},
    // Conversions.
    {"saturate", "($S x) { return x != x ? 0 : x <= $lo ? $min : x >= $hi ? $max : ($T)x; }"},
    {"vsaturate",
     "($S x) {\n  const $I low = ($I)(x <= $lo), high = ($I)(x >= $hi), fits = ~(low | high | ($I)(x != x));\n"
     "  const $T v = __builtin_convertvector(($S)(($I)x & fits), $T);\n"
     "  const $J l = __builtin_convertvector(low, $J), h = __builtin_convertvector(high, $J);\n"
     "  return ($T)((($J)v & ~(l | h)) | (l & ($J)(($T){0} + $min)) | (h & ($J)(($T){0} + $max)));\n}"},
    {"bits", "($S x) {\n  $T y;\n  __builtin_memcpy(&y, &x, sizeof y);\n  return y;\n}"},
    {"truth", "($S x) { return __builtin_convertvector(($I)(x != 0), $T) & 1; }"},
};

const char* helper_text(std::string_view name) {
  for (const Helper& h : kHelpers)
    if (name == h.name) return h.text;
  throw InternalError(fmt::format("codegen: no helper function {}", name));
}

std::string_view scalar_name(DType dtype) {
  switch (dtype) {
    case DType::Bool:
    case DType::U8: return "u8";
    case DType::I8: return "i8";
    case DType::U16: return "u16";
    case DType::I16: return "i16";
    case DType::U32: return "u32";
    case DType::I32: return "i32";
    case DType::U64: return "u64";
    case DType::I64:
    case DType::Index: return "i64";
    case DType::F16: return "f16";
    case DType::BF16: return "bf16";
    case DType::F32: return "f32";
    case DType::F64: return "f64";
    default: throw InternalError(fmt::format("codegen: C has no element type {}", name_of(dtype)));
  }
}
std::string_view c_name(DType dtype) {
  switch (dtype) {
    case DType::Bool:
    case DType::U8: return "unsigned char";
    case DType::I8: return "signed char";
    case DType::U16:
    case DType::F16:
    case DType::BF16: return "unsigned short";  // 16-bit floats are represented by their bits
    case DType::I16: return "short";
    case DType::U32: return "unsigned int";
    case DType::I32: return "int";
    case DType::U64: return "unsigned long";
    case DType::F32: return "float";
    case DType::F64: return "double";
    default: return "long";
  }
}
constexpr std::string_view kBuiltin = "__builtin_", kRoundEven = "roundeven";

DType integer_of(size_t bytes, bool with_sign) {
  switch (bytes) {
    case 1: return with_sign ? DType::I8 : DType::U8;
    case 2: return with_sign ? DType::I16 : DType::U16;
    case 4: return with_sign ? DType::I32 : DType::U32;
    default: return with_sign ? DType::I64 : DType::U64;
  }
}
int64_t lowest(DType d) { return is_unsigned(d) ? 0 : std::numeric_limits<int64_t>::min() >> (64 - 8 * size_of(d)); }
int64_t highest(DType d) {
  const int64_t all = static_cast<int64_t>(~uint64_t{0} >> (64 - 8 * size_of(d)));
  return is_unsigned(d) ? all : static_cast<int64_t>(~uint64_t{0} >> (65 - 8 * size_of(d)));
}

}  // namespace

bool spelled_in_c(Op op, DType dtype) {
  if (op == Op::Cast || op == Op::Bitcast || (op == Op::Threefry && dtype == DType::U64)) return true;
  const OpSpelling* row = spelling_of(op);
  return row && (is_float(dtype) ? row->floats : is_bool(dtype) ? row->truth : row->integers);
}

// ---- types and numbers

std::string CSpelling::vector_type(Type type, bool memory) {
  const std::string element(scalar_name(type.dtype));
  const std::string name = fmt::format("{}x{}{}", element, type.lanes, memory && !cuda() ? "_m" : "");
  if (cuda()) {
    if (known_.insert(name).second)
      types_ +=
          fmt::format("#ifndef {0}\n#define {0} {0}\nstruct __align__({1}) {0} {{ {2} v[{3}]; }};\n#endif\n", name,
                      size_of(type.dtype) * static_cast<size_t>(type.lanes), c_name(type.dtype), type.lanes);
    return name;
  }
  if (known_.insert(name).second)
    types_ += fmt::format("typedef {} {} __attribute__((vector_size({}){}));\n", c_name(type.dtype), name,
                          size_of(type.dtype) * static_cast<size_t>(type.lanes),
                          memory ? fmt::format(", aligned({}), may_alias", size_of(type.dtype)) : "");
  return name;
}
std::string CSpelling::type(Type type) {
  if (type.lanes > 1) return vector_type(type, false);
  if (type.narrow) type.dtype = DType::I32;
  std::string name(scalar_name(type.dtype));
  if (known_.insert(name).second) types_ += fmt::format("typedef {} {};\n", c_name(type.dtype), name);
  return name;
}
std::string CSpelling::memory_type(Type t) { return t.lanes > 1 ? vector_type(t, true) : type(t); }

std::string CSpelling::number(DType dtype, ir::Scalar value) {
  if (ir::is_short_float(dtype)) return fmt::format("{:#x}", ir::to_bits(dtype, value));
  if (is_float(dtype)) {
    const double v = value.as_double();
    const bool wide = dtype == DType::F64;
    const char* suffix = wide ? "" : "f";
    const char* sign = std::signbit(v) ? "-" : "";
    if (cuda() && !std::isfinite(v))
      return wide ? fmt::format("__longlong_as_double({:#x}ll)", std::bit_cast<uint64_t>(v))
                  : fmt::format("__int_as_float({:#x})", std::bit_cast<uint32_t>(static_cast<float>(v)));
    if (std::isnan(v)) return fmt::format("({}__builtin_nan{}(\"\"))", sign, suffix);
    if (std::isinf(v)) return fmt::format("({}__builtin_inf{}())", sign, suffix);
    // The shortest text that round-trips.
    std::string text = wide ? fmt::format("{}", v) : fmt::format("{}", static_cast<float>(v));
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return std::signbit(v) ? "(" + text + suffix + ")" : text + suffix;
  }
  const int64_t v = value.as_int();
  if (dtype == DType::U64) return fmt::format("{}ul", static_cast<uint64_t>(v));
  if (dtype == DType::U32) return fmt::format("{}u", v);
  if (v == std::numeric_limits<int64_t>::min()) return "(-9223372036854775807l - 1)";
  if (v == std::numeric_limits<int32_t>::min()) return "(-2147483647 - 1)";
  const bool wide = v != static_cast<int32_t>(v);
  return v < 0 ? fmt::format("({}{})", v, wide ? "l" : "") : fmt::format("{}{}", v, wide ? "l" : "");
}

// ---- operations

std::string CSpelling::fill(const std::string& pattern, Type result, Type source, std::span<const std::string> args) {
  std::string text;
  const int lanes = std::max(result.lanes, source.lanes);
  const size_t bytes = size_of(source.dtype);
  auto value_of = [&](std::string_view name) -> std::string {
    if (name == "T") return type(result);
    if (name == "S") return type(source);
    // C promotes narrow scalars to int. Unsigned 32-bit arithmetic wraps to the same narrow bits.
    if (name == "U") return type({integer_of(lanes > 1 ? bytes : std::max<size_t>(bytes, 4), false), lanes});
    if (name == "I") return type({integer_of(bytes, true), lanes});
    if (name == "J") return type({integer_of(size_of(result.dtype), true), lanes});
    if (name == "D") return type({DType::F64, 1});
    if (name == "W") return type({DType::U64, 1});
    if (name == "M") return type({DType::Bool, lanes});
    if (name == "F") return source.dtype == DType::F32 ? "f" : "";
    if (name == "R") return source.dtype == DType::F32 ? "8388608.0f" : "4503599627370496.0";
    if (name == "digits") return source.dtype == DType::F32 ? "23" : "52";
    if (name == "magic") return source.dtype == DType::F32 ? "12583166.0f" : "6755399441057790.0";
    if (name == "B") return fmt::format("{}", 8 * bytes);
    const bool low = name == "lo" || name == "min";
    const ir::Scalar limit = ir::Scalar::of(result.dtype, low ? lowest(result.dtype) : highest(result.dtype));
    if (name == "min" || name == "max") return number(result.dtype, limit);
    const double as_float = result.dtype == DType::U64 && !low ? 18446744073709551616.0 : limit.as_double();
    return number(source.dtype, ir::Scalar::of(source.dtype, as_float));
  };
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (cuda() && pattern.compare(i, kBuiltin.size(), kBuiltin) == 0) {  // CUDA's functions have no prefix
      i += kBuiltin.size();
      if (pattern.compare(i, kRoundEven.size(), kRoundEven) == 0) {
        text += "rint";
        i += kRoundEven.size();
      }
    }
    if (pattern[i] != '$') {
      text += pattern[i];
      continue;
    }
    const char c = pattern[++i];
    if (c >= '0' && c <= '9') {
      text += args[c - '0'];
      continue;
    }
    size_t end = i + 1;
    if (c >= 'a' && c <= 'z')
      while (end < pattern.size() && pattern[end] >= 'a' && pattern[end] <= 'z') ++end;
    text += value_of(std::string_view(pattern).substr(i, end - i));
    i = end - 1;
  }
  return text;
}

std::string CSpelling::function(const std::string& name, const std::string& result, const std::string& text,
                                bool called) {
  if (!known_.insert(name).second) return name;
  called = called && !cuda();
  if (!called && known_.insert("SN_FN").second)
    functions_ += cuda() ? "#define SN_FN static __device__ __forceinline__\n"
                         : "#define SN_FN static inline __attribute__((always_inline))\n";
  functions_ += fmt::format("#ifndef {0}\n#define {0} {0}\n{3} {1} {0}{2}\n#endif\n", name, result, text,
                            called ? "static __attribute__((noinline))" : "SN_FN");
  return name;
}

std::string CSpelling::helper(const std::string& name, Type result, Type source, const std::string& body) {
  std::string full = fmt::format("sn_{}_{}", name, type(result));
  if (!(result == source)) full += fmt::format("_{}", type(source));
  if (known_.contains(full)) return full;
  const std::string text = fill(body, result, source);  // first, so that its dependencies are emitted before it
  return function(full, type(result), text);
}

std::string CSpelling::conversion(Op op, Type result, Type source) {
  const bool vector = result.lanes > 1;
  if (type(result) == type(source) && !is_bool(result.dtype)) return "$0";
  if (op == Op::Bitcast) {
    if (is_bool(result.dtype)) return conversion(Op::Cast, result, source);  // a nonzero byte is true
    return vector || !(is_float(result.dtype) || is_float(source.dtype)) ? "($T)$0" : "@bits";
  }
  if (is_bool(result.dtype)) return vector ? "@truth" : "$0 != 0";
  if (is_float(source.dtype) && !is_float(result.dtype)) return vector ? "@vsaturate" : "@saturate";
  return vector ? "__builtin_convertvector($0, $T)" : "($T)$0";
}

/// The pattern of an op on this target; empty: lane by lane.
std::string CSpelling::pattern(Op op, Type result, Type source) {
  if (op == Op::Cast || op == Op::Bitcast) return conversion(op, result, source);
  const OpSpelling* row = spelling_of(op);
  if (!row) throw InternalError(fmt::format("codegen: C has no spelling for {}", ir::info(op).name));
  const bool clang = target_.dialect == Dialect::Clang;
  const DType on = op == Op::Where ? result.dtype : source.dtype;
  const char* text = nullptr;
  if (result.lanes > 1) {
    text = is_float(on) ? row->float_vectors : row->integer_vectors;
    if (is_bool(on) && op == Op::Not) text = "$0 ^ 1";
    if (is_unsigned(on) && (op == Op::IDiv || op == Op::Mod)) return op == Op::IDiv ? "@udivs" : "@umods";
    if (op == Op::Ldexp && has_scale(result)) return scale(result);
    const bool instruction = row->soft == nullptr || (op == Op::Fma ? target_.fma : target_.isa != "x86-64");
    if (text && std::string_view(text).starts_with("__builtin_elementwise") && !(clang && instruction)) text = nullptr;
    return text ? text : "";
  }
  // Indices do not overflow, so they use the plain operators, as floats do.
  const bool plain = on == DType::Index && (op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Neg);
  text = is_float(on) || plain ? row->floats : is_bool(on) ? row->truth : row->integers;
  if (!text)
    throw InternalError(fmt::format("codegen: C has no spelling for {} on {}", ir::info(op).name, name_of(on)));
  if (row->soft && !cuda() && !(op == Op::Fma ? target_.fma : clang && target_.isa != "x86-64")) text = row->soft;
  if (!is_unsigned(on)) return text;
  return op == Op::Abs ? "$0" : op == Op::IDiv ? "@udiv" : op == Op::Mod ? "@umod" : text;
}

std::string CSpelling::lane_by_lane(Op op, Type result, Type source) {
  const std::string_view names[] = {"x", "y", "z"};
  std::vector<std::string> args;
  std::string parameters;
  for (int i = 0; i < ir::info(op).arity; ++i) {
    args.push_back(fmt::format("{}[i]", names[i]));
    parameters += fmt::format("{}{} {}", i ? ", " : "", type(source), names[i]);
  }
  const std::string one = alu(op, {result.dtype, 1}, {source.dtype, 1}, args);
  std::string most;
  if (op == Op::FarRemainder)
    most = fmt::format(
        "  const $I far = ($I)(x < 0);\n  {} any = 0;\n  for (int i = 0; i < {}; ++i) any |= far[i];\n"
        "  if (__builtin_expect(!any, 1)) return x;\n",
        type({integer_of(size_of(source.dtype), true), 1}), result.lanes);
  return helper(fmt::format("each_{}", ir::info(op).name), result, source,
                fmt::format("({}) {{\n{}  {} r;\n  for (int i = 0; i < {}; ++i) r[i] = {};\n  return r;\n}}",
                            parameters, most, type(result), result.lanes, one));
}

std::string CSpelling::extreme(Op op, Type type, std::span<const std::string> args) {
  const std::string name = op == Op::Max ? "max" : "min";
  const std::string text = fmt::format(
      "($S x, $S y) {{\n  $T r;\n  asm(\"{}.NaN.f32 %0, %1, %2;\" : \"=f\"(r) : \"f\"(x), \"f\"(y));\n"
      "  return r;\n}}",
      name);
  return fmt::format("{}({}, {})", helper("nan" + name, type, type, text), without_parentheses(args[0]),
                     without_parentheses(args[1]));
}

std::string CSpelling::alu(Op op, Type result, Type source, std::span<const std::string> args) {
  if (op == Op::Where) source = result;
  if (op == Op::Cast && (ir::is_short_float(result.dtype) || ir::is_short_float(source.dtype)))
    return short_float(result, source, without_parentheses(args[0]));
  auto call = [&](const std::string& function) {
    std::vector<std::string> bare = ir::mapped(args, without_parentheses);
    return fmt::format("{}({})", function, fmt::join(bare, ", "));
  };
  if (op == Op::Threefry) return call(threefry(result));
  std::string p = pattern(op, result, source);
  if (p.empty()) return call(lane_by_lane(op, result, source));
  if (p[0] != '@') return fill(p, result, source, args);
  const std::string name = fill(p.substr(1), result, source);
  return call(helper(name, result, source, helper_text(name)));
}

size_t closing_parenthesis(const std::string& text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return text.size();
}
std::string without_parentheses(const std::string& text) {
  return !text.empty() && text[0] == '(' && closing_parenthesis(text, 0) + 1 == text.size()
             ? text.substr(1, text.size() - 2)
             : text;
}

std::string CSpelling::splat(Type t, const std::string& scalar) {
  return fmt::format("{}({})", helper("splat", t, {t.dtype, 1}, helper_text("splat")), scalar);
}

std::string CSpelling::from_bits(DType dtype, const std::string& bits) {
  const std::string arg[] = {fmt::format("({}){}", type({integer_of(size_of(dtype), false), 1}), bits)};
  if (!is_float(dtype)) return is_bool(dtype) ? bits + " != 0" : fmt::format("({}){}", type({dtype, 1}), bits);
  return alu(Op::Bitcast, {dtype, 1}, {integer_of(size_of(dtype), false), 1}, arg);
}

}  // namespace sinter::codegen
