// Keys are unsigned numbers in the order of the values: of floats, half of the numbers plus or minus the magnitude's
// bits.
#include "codegen/opaque/sort_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/base/hash.h"

namespace sinter::codegen {
namespace {

const char* unsigned_of(int bits) {
  return bits == 8 ? "unsigned char" : bits == 16 ? "unsigned short" : bits == 32 ? "unsigned" : "unsigned long long";
}
/// The key of the bits `b`, as an expression without a branch; all NaNs have the largest one, and -0 that of 0.
/// `all_if` is the text of all bits where a condition holds, which it has as {}.
std::string key_expression(const SortStep& step, std::string_view all_if) {
  const int bits = step.key_bits;
  const uint64_t sign = uint64_t{1} << (bits - 1);
  const auto hex = [&](uint64_t value) { return fmt::format("{:#x}{}", value, bits == 64 ? "ull" : "u"); };
  std::string key = "b";
  if (is_float(step.dtype)) {
    const int mantissa = step.dtype == DType::F64   ? 52
                         : step.dtype == DType::F32 ? 23
                         : step.dtype == DType::F16 ? 10
                                                    : 7;
    const std::string magnitude = fmt::format("(b & {})", hex(sign - 1)), negative = fmt::format("(b >> {})", bits - 1);
    const std::string nan = fmt::format("{} > {}", magnitude, hex((sign - 1) >> mantissa << mantissa));
    key = fmt::format("({0} + ({1} ^ -{2}) + {2}) | {3}", hex(sign), magnitude, negative,
                      fmt::format(fmt::runtime(all_if), nan));
  } else if (!is_unsigned(step.dtype)) {
    key = fmt::format("b ^ {}", hex(sign));
  }
  return step.runs.descending ? fmt::format("({}) ^ {}", key, hex(sign | (sign - 1))) : key;
}

}  // namespace

SortStep::SortStep(const Kernel& kernel) : runs(ir::sort_runs_of(kernel.sink->src[0])) {
  dtype = kernel.sink->src[0]->src[1]->dtype;
  key_bits = static_cast<int>(size_of(dtype)) * 8;
}

std::string filled(std::string_view text, const SortNames& names) {
  std::string out;
  for (size_t at = 0, next; at < text.size(); at = next) {
    next = std::min(text.find('$', at + 1), text.size());
    std::string_view part = text.substr(at, next - at);
    const std::pair<std::string, std::string>* longest = nullptr;
    for (const auto& name : names)
      if (part.starts_with(name.first) && (!longest || name.first.size() > longest->first.size())) longest = &name;
    if (longest) {
      out += longest->second;
      part.remove_prefix(longest->first.size());
    }
    out += part;
  }
  return out;
}

SortNames names_of(const SortStep& step) {
  const char* element = step.runs.values       ? unsigned_of(step.key_bits)
                        : step.runs.words == 1 ? "unsigned long long"
                                               : "$N_element";
  const bool wide = step.runs.values ? step.key_bits > 32 : step.runs.words == 2;
  return {{"$ELEMENT", element},
          {"$VALUE", unsigned_of(step.key_bits)},
          {"$KEY", wide ? "unsigned long long" : "unsigned"},
          {"$OUT", step.runs.last() && !step.runs.values ? "long long" : element},
          {"$ROW", fmt::format("{}ll", step.runs.row)},
          {"$RUN", fmt::format("{}ll", step.runs.group)},
          {"$SORTED", fmt::format("{}ll", step.runs.sorted)},
          {"$FIRST", fmt::format("{}ll", step.runs.last() ? step.runs.first : 0)},
          {"$COUNT", fmt::format("{}ll", step.runs.last() ? step.runs.count : step.runs.row)},
          {"$TASKS", fmt::format("{}ll", step.runs.tasks)}};
}

std::string element_text(const SortStep& step) {
  const std::string all_if = step.key_bits < 32 ? "(-($KEY)({}) & 0xffffu)" : "-($KEY)({})";
  std::string text;
  if (step.runs.values || !step.runs.sorted)
    text += fmt::format("$FN $KEY $N_key_of($VALUE v) {{ const $KEY b = v; return ($KEY)({}); }}\n",
                        key_expression(step, all_if));
  if (step.runs.values) {
    text +=
        "$FN $ELEMENT $N_make($VALUE v, $KEY key, long long at) { return v; }\n"
        "$FN $KEY $N_key($ELEMENT e) { return $N_key_of(e); }\n"
        "$FN int $N_less($ELEMENT x, $ELEMENT y) { return $N_key_of(x) < $N_key_of(y); }\n";
  } else if (step.runs.words == 1) {
    text +=
        "$FN $ELEMENT $N_make($VALUE v, $KEY key, long long at) {\n"
        "  return (unsigned long long)key << 32 | (unsigned)at;\n"
        "}\n"
        "$FN $KEY $N_key($ELEMENT e) { return (unsigned)(e >> 32); }\n"
        "$FN int $N_less($ELEMENT x, $ELEMENT y) { return x < y; }\n";
  } else {
    text +=
        "typedef struct { unsigned long long key, at; } $N_element;\n"
        "$FN $ELEMENT $N_make($VALUE v, $KEY key, long long at) { $ELEMENT e; e.key = key; e.at = at; return e; }\n"
        "$FN $KEY $N_key($ELEMENT e) { return e.key; }\n"
        "$FN int $N_less($ELEMENT x, $ELEMENT y) { return x.key < y.key || (x.key == y.key && x.at < y.at); }\n";
  }
  const char* position = step.runs.words == 1 ? "e & 0xffffffffu" : "e.at";
  return text + fmt::format("$FN $OUT $N_result($ELEMENT e) {{ return {}; }}\n",
                            step.runs.last() && !step.runs.values ? position : "e");
}

std::string vector_key(const SortStep& step) { return key_expression(step, "($N_lanes)({})"); }

void finish(runtime::KernelSource& source, const std::string& text, const std::string& hint, const SortNames& names) {
  std::string with_names = text;
  for (std::string before; before != with_names;) {  // values name others
    before = with_names;
    with_names = filled(before, names);
  }
  source.name =
      fmt::format("{}_{}", hint, runtime::to_hex(runtime::HashBuilder().add(with_names).hash()).substr(0, 16));
  source.text = filled(with_names, {{"$N", source.name}});
}

}  // namespace sinter::codegen
