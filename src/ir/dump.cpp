// Every attribute has one fixed spelling. Floats are written with enough digits to round-trip.
#include "ir/dump.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "ir/names.h"
#include "ir/walk.h"

namespace sinter::ir {
namespace {

/// A name in quotes. Quotes, backslashes and newlines are escaped.
std::string quoted(const std::string& name) {
  std::string s = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') s += '\\';
    s += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return s + "\"";
}
std::string text(const sinter::Var& v, const std::string& value) {
  return fmt::format("{}{} in {}..{}", quoted(v.name()), value, v.min(), v.max());
}
std::string text(const Dim& d) {
  return d.symbolic() ? text(d.var(), fmt::format("={}", d.value())) : fmt::format("{}", d.value());
}
std::string text(const Shape& shape) {
  std::string s = "[";
  for (size_t i = 0; i < shape.rank(); ++i) s += (i ? ", " : "") + text(shape[i]);
  return s + "]";
}
std::string text(const Ints& ints) { return fmt::format("[{}]", fmt::join(ints, ", ")); }

}  // namespace

std::string dump(Scalar value) {
  if (!value.floating()) return fmt::format("{}", value.as_int());
  const double v = value.as_double();
  if (std::isnan(v))
    return value.bits() == std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN())
               ? "nan"
               : fmt::format("nan:{:016x}", value.bits());
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  std::string s = fmt::format("{}", v);
  return s.find_first_of(".e") == std::string::npos ? s + ".0" : s;
}

std::string dump(const Attr& attr) {
  return std::visit(
      [](const auto& a) -> std::string {
        using T = std::decay_t<decltype(a)>;
        if constexpr (std::is_same_v<T, std::monostate>) return "";
        if constexpr (std::is_same_v<T, int64_t>) return fmt::format("{{{}}}", a);
        if constexpr (std::is_same_v<T, Scalar>) return fmt::format("{{= {}}}", dump(a));
        if constexpr (std::is_same_v<T, Ints>) return fmt::format("{{{}}}", text(a));
        if constexpr (std::is_same_v<T, Region>) {
          std::string s = "{box ";
          for (const Extent& e : a) s += fmt::format("[{}, {})", text(e.begin), text(e.end));
          return s + "}";
        }
        if constexpr (std::is_same_v<T, WindowAttr>) return fmt::format("{{window axis {} step {}}}", a.axis, a.step);
        if constexpr (std::is_same_v<T, ScatterAttr>)
          return fmt::format("{{scatter {} axis {}}}", name_of(a.mode), a.axis);
        if constexpr (std::is_same_v<T, ReduceAttr>)
          return fmt::format("{{{} axes {} lanes {} block {}{}{}{}}}", name_of(a.combine), text(a.axes), a.tree.lanes,
                             a.tree.block, a.tree.group ? fmt::format(" group {}", a.tree.group) : "",
                             a.tree.mma ? " mma" : "", a.result ? fmt::format(" result {}", a.result) : "");
        if constexpr (std::is_same_v<T, RangeAttr>) return fmt::format("{{{} {}}}", name_of(a.kind), a.id);
        if constexpr (std::is_same_v<T, sinter::Var>) return fmt::format("{{var {}}}", text(a, ""));
      },
      attr);
}

std::string type_and_shape(UOp n) { return fmt::format("{} {}", name_of(n->dtype), sinter::to_string(n->shape)); }

std::string describe(UOp n) {
  std::string s = fmt::format("{} {} {}", info(n->op).name, name_of(n->dtype), text(n->shape));
  const std::string attr = dump(n->attr);
  return attr.empty() ? s : s + " " + attr;
}

std::string dump(std::span<const UOp> roots) {
  std::string s = "sinter-ir 1\n";
  size_t number = 0;
  for (UOp n : topological(roots)) {
    s += fmt::format("%{} = {} {} {}", number++, info(n->op).name, name_of(n->dtype), text(n->shape));
    for (size_t i = 0; i < n->src.size(); ++i) s += fmt::format("{}%{}", i ? ", " : " (", n->src[i]->position);
    if (!n->src.empty()) s += ")";
    if (const std::string attr = dump(n->attr); !attr.empty()) s += " " + attr;
    if (!(n->device == Device::cpu())) s += " @" + to_string(n->device);
    s += "\n";
  }
  if (roots.size() == 1) return s;
  s += "roots";
  for (size_t i = 0; i < roots.size(); ++i) s += fmt::format("{}%{}", i ? ", " : " ", roots[i]->position);
  return s + "\n";
}
std::string dump(UOp root) { return dump(std::span<const UOp>(&root, 1)); }

}  // namespace sinter::ir
