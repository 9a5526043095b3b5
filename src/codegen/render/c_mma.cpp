// Tensor cores and asynchronous copies in CUDA: instructions as inline assembly (PTX ISA, "Warp-level matrix
// instructions" and "cp.async"), and a step of a thread by itself in integers, which follows ir/mma_step.cpp.
#include <fmt/format.h>

#include <string_view>

#include "codegen/render/c_spelling.h"
#include "ir/mma_step.h"
#include "sinter/error.h"

namespace sinter::codegen {
namespace {

/// Of an element of a factor.
std::string_view ptx_name(DType factor) {
  switch (factor) {
    case DType::BF16: return "bf16";
    case DType::F16: return "f16";
    case DType::I8: return "s8";
    case DType::U8: return "u8";
    default: return "tf32";
  }
}

/// How C, PTX and inline assembly name the type of a sum.
struct SumType {
  std::string_view c, ptx;
  char constraint;
};
SumType sum_type(DType factor) {
  return is_float(ir::mma_sum(factor)) ? SumType{"float", "f32", 'f'} : SumType{"int", "s32", 'r'};
}

std::string list(std::string_view format, int from, int count) {
  std::string text;
  for (int i = from; i < from + count; ++i) text += fmt::format(fmt::runtime(format), i == from ? "" : ", ", i);
  return text;
}

constexpr std::string_view kByteStep = R"((int sum, const unsigned* a, const unsigned* b) {
  unsigned all = sum;
  for (int k = 0; k < $K; ++k) all += a[k] * b[k];
  return (int)all;
})";

/// Terms are significands with an exponent; see ir/mma_step.cpp. $E, $F, $D: exponent bits, fraction bits and ignored
/// bits of a factor; $K: products in a step.
constexpr std::string_view kStep = R"((float sum, const unsigned* a, const unsigned* b) {
  unsigned long long part[$K + 1];
  int at[$K + 1], largest = -133;
  bool minus[$K + 1], nan = false, plus = false, below = false;
  for (int k = 0; k <= $K; ++k) {
    unsigned long long m[2] = {1, 1};
    int e[2] = {0, 0}, n = 0;
    bool infinite = false, zero = false;
    for (int i = 0; i < (k < $K ? 2 : 1); ++i) {
      const int eb = k < $K ? $E : 8, fb = k < $K ? $F : 23;
      const unsigned bits = k < $K ? (i ? b[k] : a[k]) >> $D : __float_as_uint(sum);
      const unsigned last = (1u << eb) - 1, biased = bits >> fb & last;
      m[i] = bits & ((1u << fb) - 1);
      n ^= bits >> (eb + fb) & 1;
      if (biased == last) {
        nan |= m[i] != 0;
        infinite |= m[i] == 0;
        m[i] = 1;
        continue;
      }
      if (biased) m[i] |= 1u << fb;
      e[i] = (int)(biased ? biased : 1) - (int)(last >> 1);
      zero |= m[i] == 0;
    }
    nan |= infinite && zero;
    if (infinite) (n ? below : plus) = true;
    part[k] = m[0] * m[1];
    at[k] = e[0] + e[1];
    minus[k] = n;
    if (part[k] && at[k] > largest) largest = at[k];
  }
  if (nan || (plus && below)) return __uint_as_float(0x7fffffffu);
  if (plus || below) return __uint_as_float(plus ? 0x7f800000u : 0xff800000u);
  long long all = 0;
  for (int k = 0; k <= $K; ++k) {
    const int by = 25 - (k < $K ? 2 * $F : 23) - (largest - at[k]);
    const unsigned long long cut = by <= -64 ? 0 : by >= 0 ? part[k] << by : part[k] >> -by;
    all += minus[k] ? -(long long)cut : (long long)cut;
  }
  const unsigned long long size = all < 0 ? 0 - (unsigned long long)all : (unsigned long long)all;
  if (!size) return 0;
  const int unit = largest - 25, exponent = unit + 63 - __clzll((long long)size);
  const int by = unit - ((exponent > -126 ? exponent : -126) - 23);
  unsigned long long bits = by <= -64 ? 0 : by >= 0 ? size << by : size >> -by;
  if (!bits) return 0;
  if (exponent >= -126) bits += (unsigned long long)(exponent + 126) << 23;
  return __uint_as_float((all < 0 ? 0x80000000u : 0u) | (unsigned)(bits < 0x7f800000ull ? bits : 0x7f800000ull));
})";

std::string replaced(std::string text, std::string_view name, const std::string& by) {
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + by.size()))
    text.replace(at, name.size(), by);
  return text;
}

}  // namespace

std::string CSpelling::add_mma(DType a, DType b, std::span<const std::string> args) {
  if (!cuda()) throw InternalError("codegen: only GPUs have tensor cores");
  const SumType sum = sum_type(a);
  const std::string name = fmt::format("sn_mma_{}{}{}", ptx_name(a), a == b ? "" : "_", a == b ? "" : ptx_name(b));
  // Sums by reference: compiled in less time than a result that is copied back.
  function(name, "void",
           fmt::format("({c}& c0, {c}& c1, {c}& c2, {c}& c3, {words}) {{\n"
                       "  asm volatile(\"mma.sync.aligned.m16n8k{k}.row.col.{sum}.{a}.{b}.{sum} \"\n"
                       "    \"{{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};\"\n"
                       "    : \"+{in}\"(c0), \"+{in}\"(c1), \"+{in}\"(c2), \"+{in}\"(c3)\n    : {given});\n}}",
                       fmt::arg("c", sum.c), fmt::arg("sum", sum.ptx), fmt::arg("in", sum.constraint),
                       fmt::arg("a", ptx_name(a)), fmt::arg("b", ptx_name(b)), fmt::arg("k", ir::mma_step_length(a)),
                       fmt::arg("words", list("{}unsigned x{}", 0, 6)), fmt::arg("given", list("{}\"r\"(x{})", 0, 6))));
  return fmt::format("{}({});", name, fmt::join(args, ", "));
}

std::string CSpelling::mma_step(DType factor, std::span<const std::string> args) {
  if (!cuda()) throw InternalError("codegen: only GPUs have tensor cores");
  const ir::MmaOperand operand = ir::mma_operand(factor);
  const bool bytes = operand == ir::MmaOperand::Byte;
  const std::string sum(sum_type(factor).c);
  struct Format {
    int exponent, fraction, ignored;
  };
  constexpr Format kFormats[] = {{8, 7, 0}, {5, 10, 0}, {8, 10, 13}, {}};
  const Format& f = kFormats[static_cast<int>(operand)];
  const int count = static_cast<int>(ir::mma_step_length(operand));
  std::string text = replaced(std::string(bytes ? kByteStep : kStep), "$K", std::to_string(count));
  text = replaced(replaced(std::move(text), "$E", std::to_string(f.exponent)), "$F", std::to_string(f.fraction));
  text = replaced(std::move(text), "$D", std::to_string(f.ignored));
  const std::string step = bytes ? "sn_step_byte" : fmt::format("sn_step_{}", ptx_name(factor)), name = step + "_of";
  function(step, sum, text);
  // A 16-bit float is its bits; a byte is extended by its sign; a float32 is rounded (ir::tf32_of).
  const bool wide = operand == ir::MmaOperand::TF32;
  if (wide)
    function("sn_tf32", "unsigned", "(float x) {\n  return x == x ? __float_as_uint(x) + 0x1000u : 0x7fffffffu;\n}");
  const std::string word = wide ? "{}sn_tf32(x{})" : "{}x{}", element = wide ? "{}float x{}" : "{}unsigned x{}";
  function(name, sum,
           fmt::format("({} sum, {}) {{\n  const unsigned a[] = {{{}}}, b[] = {{{}}};\n  return {}(sum, a, b);\n}}",
                       sum, list(element, 0, 2 * count), list(word, 0, count), list(word, count, count), step));
  return fmt::format("{}({})", name, fmt::join(args, ", "));
}

std::string CSpelling::load_matrices(int count, bool transposed, const std::string& pointer) {
  if (!cuda()) throw InternalError("codegen: only GPUs load matrices");
  const std::string words = type({DType::U32, count}), trans = transposed ? ".trans" : "";
  const std::string name = fmt::format("sn_ldmatrix_x{}{}", count, transposed ? "_trans" : "");
  function(name, words,
           fmt::format("(const void* p) {{\n  {} r;\n"
                       "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {{{}}}, [%{}];\"\n"
                       "    : {} : \"r\"((unsigned)__cvta_generic_to_shared(p)) : \"memory\");\n  return r;\n}}",
                       words, count, trans, list("{}%{}", 0, count), count, list("{}\"=r\"(r.v[{}])", 0, count)));
  return fmt::format("{}({})", name, pointer);
}

std::string CSpelling::copy_async(size_t bytes, const std::string& to, const std::string& from,
                                  const std::string& predicate) {
  const std::string name = fmt::format("sn_copy_async_{}{}", bytes, predicate.empty() ? "" : "_if");
  function(name, "void",
           fmt::format(
               "(void* to, const void* from{}) {{\n"
               "  asm volatile(\"cp.async.{}.shared.global [%0], [%1], {}{};\"\n"
               "    : : \"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(__cvta_generic_to_global(from)){} : "
               "\"memory\");\n}}",
               predicate.empty() ? "" : ", bool open", bytes == 16 ? "cg" : "ca", bytes,
               predicate.empty() ? "" : ", %2", predicate.empty() ? "" : fmt::format(", \"r\"(open ? {} : 0)", bytes)));
  return fmt::format("{}({}, {}{});", name, to, from, predicate.empty() ? "" : ", " + predicate);
}

}  // namespace sinter::codegen
