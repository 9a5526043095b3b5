// Vector lanes in registers (shuffles, packs) and in memory (masked, partial and strided accesses).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "codegen/render/c_spelling.h"
#include "ir/scalar_eval.h"

namespace sinter::codegen {
namespace {

/// Parameter list "T x0, T x1".
std::string parameters(const std::string& type, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("{}{} x{}", i ? ", " : "", type, i);
  return text;
}

/// Concatenates `count` vectors of `lanes` lanes, named `letter` plus a number, pairwise until at most `most` remain.
/// An unpaired vector is concatenated with itself.
std::vector<std::string> join_by_pairs(char letter, size_t count, int lanes, size_t most) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < count; ++i) parts.push_back(fmt::format("{}{}", letter, i));
  while (parts.size() > most) {
    lanes *= 2;
    std::string order;
    for (int l = 0; l < lanes; ++l) order += fmt::format(", {}", l);
    std::vector<std::string> pairs;
    for (size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(
          fmt::format("__builtin_shufflevector({}, {}{})", parts[i], parts[i + 1 < parts.size() ? i + 1 : i], order));
    parts = std::move(pairs);
  }
  return parts;
}

}  // namespace

std::string CSpelling::part(Type t, const std::string& vector, int from) {
  std::string text = fmt::format("__builtin_shufflevector({0}, {0}", vector);
  for (int i = 0; i < t.lanes; ++i) text += fmt::format(", {}", from + i);
  return text + ")";
}

std::string CSpelling::pack(Type t, std::span<const std::string> lanes) {
  const std::string list = fmt::format("{}", fmt::join(lanes, ", "));
  if (!cuda()) return fmt::format("({}){{{}}}", type(t), list);
  const std::string name = "sn_pack_" + type(t);
  if (known_.contains(name)) return fmt::format("{}({})", name, list);
  std::string body;
  for (int i = 0; i < t.lanes; ++i) body += fmt::format(" r.v[{0}] = x{0};", i);
  const std::string taken = parameters(type({t.dtype, 1}), lanes.size());
  return fmt::format("{}({})",
                     function(name, type(t), fmt::format("({}) {{ {} r;{} return r; }}", taken, type(t), body)), list);
}

std::string CSpelling::join(Type t, std::span<const std::string> vectors) {
  const Type source{t.dtype, t.lanes / static_cast<int>(vectors.size())};
  const std::string all = join_by_pairs('x', vectors.size(), source.lanes, 1)[0];
  const std::string name = helper(
      "join", t, source, fmt::format("({}) {{\n  return {};\n}}", parameters(type(source), vectors.size()), all));
  return fmt::format("{}({})", name, fmt::join(vectors, ", "));
}

/// For each shuffle of a transpose LLVM walks through all shuffles before it in search of dead lanes, which dominated
/// the compile time of such kernels. An arithmetic fence is opaque to that analysis and emits no instruction. Exchanges
/// of single lanes get none, because LLVM selects instructions for them together with the next step. Clang emits fences
/// only where reassociation is allowed; the function contains nothing else to reassociate.
std::string CSpelling::interleave(Type t, const std::string& a, const std::string& b, int block) {
  const int size = std::abs(block), odd = block < 0 ? size : 0;
  std::string shuffle = "__builtin_shufflevector(x, y";
  for (int l = 0; l < t.lanes; ++l) shuffle += fmt::format(", {}", l / size % 2 ? t.lanes + l - size + odd : l + odd);
  shuffle += ")";
  const size_t bytes = size_of(t.dtype) * static_cast<size_t>(t.lanes);
  const bool fenced = target_.dialect == runtime::Dialect::Clang && size > 1 && is_float(t.dtype) &&
                      size_of(t.dtype) >= 4 && bytes >= 16 && bytes <= static_cast<size_t>(target_.vector_bytes);
  const std::string body =
      fenced ? fmt::format("($S x, $S y) {{\n#pragma clang fp reassociate(on)\n  return __arithmetic_fence({});\n}}",
                           shuffle)
             : fmt::format("($S x, $S y) {{ return {}; }}", shuffle);
  return fmt::format("{}({}, {})", helper(fmt::format("{}{}", odd ? "odd" : "even", size), t, t, body), a, b);
}

std::string CSpelling::transpose(Type t, std::span<const std::string> vectors, int columns, int part) {
  const int all = static_cast<int>(vectors.size()) * t.lanes, rows = all / columns;
  // GCC holds shuffle indices in the element type: bytes can index only 256 lanes.
  const bool widened = target_.dialect == runtime::Dialect::Gcc && size_of(t.dtype) == 1 && all > 256;
  std::string body = "{\n";
  for (size_t i = 0; widened && i < vectors.size(); ++i)
    body += fmt::format("  {0} w{1} = __builtin_convertvector(x{1}, {0});\n", type({DType::I16, t.lanes}), i);
  const std::vector<std::string> parts = join_by_pairs(widened ? 'w' : 'x', vectors.size(), t.lanes, 2);
  std::string picked = fmt::format("__builtin_shufflevector({}, {}", parts[0], parts.back());
  for (int i = part * t.lanes; i < (part + 1) * t.lanes; ++i)
    picked += fmt::format(", {}", i % rows * columns + i / rows);
  picked += ")";
  if (widened) picked = fmt::format("__builtin_convertvector({}, {})", picked, type(t));
  body += fmt::format("  return {};\n}}", picked);
  const std::string name = helper(fmt::format("transpose{}_{}_{}", vectors.size(), columns, part), t, t,
                                  fmt::format("({}) {}", parameters(type(t), vectors.size()), body));
  return fmt::format("{}({})", name, fmt::join(vectors, ", "));
}

std::string CSpelling::lane(const std::string& vector, int lane) const {
  return fmt::format("{}{}[{}]", vector, cuda() ? ".v" : "", lane);
}

std::string CSpelling::shuffle(Type t, const std::string& value, const std::string& lane) {
  const size_t bytes = size_of(t.dtype);
  const char* body = "($S x, int lane) { return ($T)__shfl_sync(0xffffffffu, (unsigned)x, lane); }";
  if (is_float(t.dtype) && bytes == 4)
    body = "($S x, int lane) { return __int_as_float(__shfl_sync(0xffffffffu, __float_as_int(x), lane)); }";
  if (bytes == 8)
    body =
        "($S x, int lane) {\n  int w[2];\n  memcpy(w, &x, 8);\n  w[0] = __shfl_sync(0xffffffffu, w[0], lane);\n"
        "  w[1] = __shfl_sync(0xffffffffu, w[1], lane);\n  memcpy(&x, w, 8);\n  return x;\n}";
  return fmt::format("{}({}, (int){})", helper("shuffle", t, t, body), value, lane[0] == '(' ? lane : "(" + lane + ")");
}

std::string CSpelling::lane_less_than(int lanes, const std::string& count) {
  if (lanes == 1) return fmt::format("0 < {}", count);
  const Type t{DType::Bool, lanes};
  const std::string name = "sn_below_" + type(t);
  if (known_.contains(name)) return fmt::format("{}({})", name, count);
  std::string numbers;
  for (int i = 0; i < lanes; ++i) numbers += fmt::format("{}{}", i ? ", " : "", i);
  const Type number{lanes <= 64 ? DType::I8 : DType::I16, lanes}, one{number.dtype, 1};
  const std::string all =
      fmt::format("const {} m = n < 0 ? 0 : n > {} ? {} : ({})n;", type(one), lanes, lanes, type(one));
  const std::string holds = fmt::format("({0})(({0}){{{1}}} < ({0}){{0}} + m)", type(number), numbers);
  return fmt::format("{}({})",
                     function(name, type(t),
                              fmt::format("({} n) {{\n  {}\n  return __builtin_convertvector({}, {}) & 1;\n}}",
                                          type({DType::I64, 1}), all, holds, type(t))),
                     count);
}

constexpr int kFewestBits = 16;      ///< narrowest comparison, in bools
constexpr size_t kFewestBytes = 16;  ///< narrowest masked load

/// AVX-512 masked accesses to vectors of kFewestBytes to 64 bytes, as Clang and GCC spell them.
struct MaskedAccess {
  const size_t bytes;
  const int which;         ///< log2 of the element size
  const char* const mask;  ///< the mask's type: one bit per lane

  explicit MaskedAccess(Type t)
      : bytes(size_of(t.dtype) * static_cast<size_t>(t.lanes)),
        which(std::countr_zero(size_of(t.dtype))),
        mask(mask_of(t.lanes)) {}
  static const char* mask_of(int lanes) {
    constexpr const char* kTypes[] = {"unsigned char", "unsigned short", "unsigned", "unsigned long long"};
    return kTypes[lanes <= 8 ? 0 : std::countr_zero(static_cast<unsigned>(lanes)) - 3];
  }
  /// Typedef of v, the vector type that the builtins take.
  std::string vector() const {
    constexpr const char* kElements[] = {"char", "short", "int", "long long"};
    return fmt::format("typedef {} v __attribute__((vector_size({})));", kElements[which], bytes);
  }
  std::string store(const char* value, const char* m) const {
    return fmt::format("__builtin_ia32_storedqu{}{}_mask((void*)p, (v){}, ({}){});", letters(), 8 * bytes, value, mask,
                       m);
  }
  /// A masked load as an expression.
  std::string load(const std::string& type, const std::string& other, const std::string& m) const {
    return fmt::format("({})__builtin_ia32_loaddqu{}{}_mask((const void*)p, {}, ({}){})", type, letters(), 8 * bytes,
                       other, mask, m);
  }

 private:
  const char* letters() const {
    constexpr const char* kLetters[] = {"qi", "hi", "si", "di"};
    return kLetters[which];
  }
};

/// Repeats the lanes of a vector to `count` lanes.
std::string repeat_lanes(const std::string& vector, int lanes, int count) {
  if (count == lanes) return vector;
  std::string text = fmt::format("__builtin_shufflevector({0}, {0}", vector);
  for (int i = 0; i < count; ++i) text += fmt::format(", {}", i % lanes);
  return text + ")";
}

/// Helper that turns up to 64 bools into a bit mask by one comparison. Fewer than 16 bools are repeated to fill 16.
std::string CSpelling::bits(int lanes) {
  std::string predicates = type({DType::Bool, lanes}), name = "sn_bits_" + predicates;
  if (known_.contains(name)) return name;
  const int count = std::max(lanes, kFewestBits);
  const std::string all = repeat_lanes("g", lanes, count);
  const char* mask = MaskedAccess::mask_of(count);
  return function(name, mask,
                  fmt::format("({} g) {{\n  typedef char b __attribute__((vector_size({})));\n  return "
                              "__builtin_ia32_cmpb{}_mask((b){}, (b){{0}}, 4, ({})-1);\n}}",
                              predicates, count, 8 * count, all, mask));
}

std::string CSpelling::all(int lanes, const std::string& truths) {
  if (lanes == 1) return truths;
  return fmt::format("({}({}) == ({})-1)", bits(lanes), without_parentheses(truths),
                     MaskedAccess::mask_of(std::max(lanes, kFewestBits)));
}

/// Helper for a load under a predicate per lane. Vectors wider than a register are loaded in halves, short ones as part
/// of a longer one.
std::string CSpelling::masked_load(Type t) {
  std::string name = "sn_where_" + type(t);
  if (known_.contains(name)) return name;
  const Type predicates{DType::Bool, t.lanes};
  std::string body;
  const size_t size = size_of(t.dtype), bytes = size * static_cast<size_t>(t.lanes);
  if (bytes > (target_.masks ? 64 : 32)) {
    const Type half{t.dtype, t.lanes / 2}, half_predicates{DType::Bool, t.lanes / 2};
    const std::string call = masked_load(half);
    const auto part_of = [&](int from) {
      return fmt::format("{}, {}", part(half_predicates, "g", from), part(half, "x", from));
    };
    const std::string halves[] = {fmt::format("{}(p, {})", call, part_of(0)),
                                  fmt::format("{}(p + {}, {})", call, half.lanes, part_of(half.lanes))};
    body = fmt::format("return {};", join(t, halves));
  } else if (!target_.masks) {  // AVX2: the mask is the sign bit of each element; masked-off elements read as 0
    constexpr const char* kAll[] = {"(unsigned short)g == 0x101", "(unsigned)g == 0x1010101",
                                    "(unsigned long long)g == 0x101010101010101"};
    body = fmt::format(
        "typedef {} v __attribute__((vector_size({})));\n  if (__builtin_expect({}, 1)) {{\n    __builtin_memcpy(&x, "
        "p, {});\n    return x;\n  }}\n"
        "  const v m = __builtin_convertvector(g, v) != 0;\n  return ({})(__builtin_ia32_maskload{}{}((const v*)p, m) "
        "| ((v)x & ~m));",
        size == 4 ? "int" : "long long", bytes, kAll[std::countr_zero(static_cast<unsigned>(t.lanes)) - 1], bytes,
        type(t), size == 4 ? "d" : "q", bytes == 32 ? "256" : "");
  } else if (bytes < kFewestBytes) {  // the first lanes of a wider vector; its other lanes are masked off
    const Type whole{t.dtype, static_cast<int>(kFewestBytes / size)};
    const MaskedAccess m(whole);
    const std::string other = "(v)" + repeat_lanes("x", t.lanes, whole.lanes),
                      predicate = fmt::format("({}(g) & {})", bits(t.lanes), (uint64_t{1} << t.lanes) - 1);
    body = fmt::format("{}\n  const {} all = {};\n  return {};", m.vector(), type(whole),
                       m.load(type(whole), other, predicate), part(t, "all", 0));
  } else {
    const MaskedAccess m(t);
    body = fmt::format("{}\n  return {};", m.vector(), m.load(type(t), "(v)x", bits(t.lanes) + "(g)"));
  }
  return function(
      name, type(t),
      fmt::format("(const {}* p, {} g, {} x) {{\n  {}\n}}", type({t.dtype, 1}), type(predicates), type(t), body));
}

/// Gathers eight lanes at a time: as many indices as a register holds.
std::string CSpelling::gather(Type t, const std::string& pointer, const std::string& indices,
                              const std::string& predicate, const std::string& other) {
  const std::string name = "sn_gather_" + type(t);
  if (!known_.contains(name)) {
    constexpr int kTogether = 8;
    const Type piece{t.dtype, std::min(t.lanes, kTogether)}, index{DType::Index, kTogether};
    const size_t size = size_of(t.dtype);
    const std::string kind = size == 4 ? (is_float(t.dtype) ? "16sf" : "16si") : is_float(t.dtype) ? "8df" : "8di";
    const char* element = is_float(t.dtype) ? (size == 4 ? "float" : "double") : size == 4 ? "int" : "long long";
    std::vector<std::string> pieces;
    for (int from = 0; from < t.lanes; from += kTogether)
      pieces.push_back(fmt::format("({})__builtin_ia32_gatherdiv{}((v){}, p, (n){}, (unsigned char)(m >> {}), {})",
                                   type(piece), kind, t.lanes == kTogether ? "x" : part(piece, "x", from),
                                   t.lanes == kTogether ? "i" : part(index, "i", from), from, size));
    function(name, type(t),
             fmt::format("(const {}* p, {} i, {} g, {} x) {{\n  typedef {} v __attribute__((vector_size({})));\n"
                         "  typedef long long n __attribute__((vector_size(64)));\n  const unsigned long long m = "
                         "{}(g);\n  return {};\n}}",
                         type({t.dtype, 1}), type({DType::Index, t.lanes}), type({DType::Bool, t.lanes}), type(t),
                         element, kTogether * size, bits(t.lanes), pieces.size() == 1 ? pieces[0] : join(t, pieces)));
  }
  return fmt::format("{}({}, {}, {}, {})", name, pointer, indices, predicate, other);
}

/// Helper for an access to the first lanes of a vector in memory. Uses a mask if the target has masks. Vectors wider
/// than a register are accessed in halves.
std::string CSpelling::partial_access(Type t, bool store) {
  std::string name = fmt::format("sn_{}_{}", store ? "store" : "load", type(t));
  if (known_.contains(name)) return name;
  const std::string vector = type(t), element = type({t.dtype, 1}), i64 = type({DType::I64, 1});
  const size_t size = size_of(t.dtype), bytes = size * static_cast<size_t>(t.lanes);
  const std::string parameters = store ? fmt::format("({}* p, {} x, {} n)", element, vector, i64)
                                       : fmt::format("(const {}* p, {} n)", element, i64);
  std::string body;
  if (bytes > 64) {
    const Type half{t.dtype, t.lanes / 2};
    const std::string call = partial_access(half, store);
    const std::string high = fmt::format("p + {0}", half.lanes), rest = fmt::format("n - {}", half.lanes);
    if (store) {
      body = fmt::format("{}(p, {}, n);\n  {}({}, {}, {});", call, part(half, "x", 0), call, high,
                         part(half, "x", half.lanes), rest);
    } else {
      std::string all;
      for (int i = 0; i < t.lanes; ++i) all += fmt::format(", {}", i);
      body = fmt::format("const {0} a = {1}(p, n), b = {1}({2}, {3});\n  return __builtin_shufflevector(a, b{4});",
                         type(half), call, high, rest, all);
    }
  } else if (target_.masks && bytes >= 16) {
    const MaskedAccess m(t);
    body = fmt::format("{}\n  const unsigned long long m = n <= 0 ? 0 : n >= {} ? ~0ull : (1ull << n) - 1;\n  ",
                       m.vector(), t.lanes);
    body += store ? m.store("x", "m") : fmt::format("return {};", m.load(vector, "(v){0}", "m"));
  } else if (!store && target_.has_masked_loads(size) && (bytes == 16 || bytes == 32)) {
    std::string numbers;
    for (int i = 0; i < t.lanes; ++i) numbers += fmt::format("{}{}", i ? ", " : "", i);
    body = fmt::format(
        "typedef {0} v __attribute__((vector_size({1})));\n  const v m = (v){{{2}}} < (v){{0}} + ({0})(n < {3} ? n : "
        "{3});"
        "\n  return ({4})__builtin_ia32_maskload{5}{6}((const v*)p, m);",
        size == 4 ? "int" : "long long", bytes, numbers, t.lanes, vector, size == 4 ? "d" : "q",
        bytes == 32 ? "256" : "");
  } else {  // lane by lane; written out, since a lane whose number is not constant goes through memory
    if (!store) body = vector + " x = {0};\n  ";
    for (int i = 0; i < t.lanes; ++i)
      body += fmt::format("if ({0} < n) {1}[{0}] = {2}[{0}];\n  ", i, store ? "p" : "x", store ? "x" : "p");
    body += store ? "" : "return x;";
  }
  return function(name, store ? "void" : vector, fmt::format("{} {{\n  {}\n}}", parameters, body));
}

/// Helper for a streaming store. GCC has one builtin per register size.
std::string CSpelling::gcc_stream(Type t) {
  std::string name = "sn_stream_" + type(t);
  if (known_.contains(name)) return name;
  const int bytes = static_cast<int>(size_of(t.dtype)) * t.lanes;
  std::string body;
  if (bytes > target_.vector_bytes) {
    const Type half{t.dtype, t.lanes / 2};
    const std::string call = gcc_stream(half);
    body = fmt::format("{0}(p, {1});\n  {0}(p + {2}, {3});", call, part(half, "x", 0), half.lanes,
                       part(half, "x", half.lanes));
  } else {
    body =
        fmt::format("typedef long long v __attribute__((vector_size({})));\n  __builtin_ia32_movntdq{}((v*)p, (v)x);",
                    bytes, bytes == 16 ? "" : std::to_string(8 * bytes));
  }
  return function(name, "void", fmt::format("({}* p, {} x) {{\n  {}\n}}", type({t.dtype, 1}), type(t), body));
}

/// Whether the target has an instruction that scales vectors by powers of two.
bool CSpelling::has_scale(Type t) const {
  const size_t bytes = size_of(t.dtype) * static_cast<size_t>(t.lanes);
  return !cuda() && target_.masks && bytes >= 16 && bytes <= 64;
}
/// The pattern of LDEXP as that instruction, unmasked.
std::string CSpelling::scale(Type t) const {
  const size_t bytes = size_of(t.dtype) * static_cast<size_t>(t.lanes);
  return fmt::format("__builtin_ia32_scalef{}{}_mask($0, $1, $0, -1{})", t.dtype == DType::F32 ? "ps" : "pd", 8 * bytes,
                     bytes == 64 ? ", 4" : "");
}

std::string CSpelling::stream(Type t, const std::string& pointer, const std::string& value) {
  if (target_.dialect == runtime::Dialect::Gcc) return fmt::format("{}({}, {})", gcc_stream(t), pointer, value);
  return fmt::format("__builtin_nontemporal_store({}, ({}*)({}))", value, type(t), pointer);
}

std::string CSpelling::load_partial(Type t, const std::string& pointer, const std::string& count) {
  return fmt::format("{}({}, {})", partial_access(t, false), pointer, count);
}
std::string CSpelling::load_masked(Type t, const std::string& pointer, const std::string& predicate,
                                   const std::string& other) {
  return fmt::format("{}({}, {}, {})", masked_load(t), pointer, predicate, other);
}
/// One call per vector, unrolled inside: a loop over lanes would go through memory.
std::string CSpelling::store_strided(Type t, const std::string& pointer, const std::string& value, int64_t stride) {
  const std::string name = "sn_store_apart_" + type(t);
  if (!known_.contains(name)) {
    std::string lanes = "  *p = x[0];\n";
    for (int l = 1; l < t.lanes; ++l) lanes += fmt::format("  *(p += s) = x[{}];\n", l);
    function(name, "void",
             fmt::format("({}* p, {} x, {} s) {{\n{}}}", type({t.dtype, 1}), type(t), type({DType::I64, 1}), lanes),
             true);
  }
  return fmt::format("{}({}, {}, {})", name, pointer, value, stride);
}
/// Selects the address, not the value. Masks and shuffles would occupy the ports of the multiply units, and a branch
/// may be mispredicted.
std::string CSpelling::load_predicated(Type t, const std::string& pointer, const std::string& predicate,
                                       ir::Scalar other) {
  const std::string name = fmt::format("sn_load_if_{}_{:x}", type(t), ir::to_bits(t.dtype, other));
  std::string lanes = number(t.dtype, other);
  for (int l = 1; l < t.lanes; ++l) lanes += ", " + number(t.dtype, other);
  function(name, type(t),
           fmt::format("(const {0}* p, {1} g) {{\n  static const {0} other[{2}] = {{{3}}};\n"
                       "  return *(const {4}*)(g ? p : other);\n}}",
                       type({t.dtype, 1}), type({DType::Bool, 1}), t.lanes, lanes, memory_type(t)));
  return fmt::format("{}({}, {})", name, pointer, predicate);
}
std::string CSpelling::store_partial(Type t, const std::string& pointer, const std::string& value,
                                     const std::string& count) {
  return fmt::format("{}({}, {}, {})", partial_access(t, true), pointer, value, count);
}

}  // namespace sinter::codegen
