// One line is one node. The kind of an attribute is recognized by its first characters.
#include "ir_text/parse.h"

#include <fmt/core.h>

#include <utility>

#include "ir/names.h"
#include "ir_text/words.h"

namespace sinter::ir {
namespace {

std::string name(TextCursor& c) {
  c.expect("\"");
  std::string s;
  while (c.at < c.text.size() && c.text[c.at] != '"') {
    char ch = c.text[c.at++];
    if (ch == '\\' && c.at < c.text.size()) ch = c.text[c.at++] == 'n' ? '\n' : c.text[c.at - 1];
    s += ch;
  }
  if (c.at >= c.text.size()) c.fail("a name without an end");
  ++c.at;
  return s;
}

/// Follows a name: `in 1..256`.
sinter::Var bounds(TextCursor& c, std::string var) {
  c.expect("in");
  const int64_t min = c.integer<int64_t>();
  c.expect("..");
  const int64_t max = c.integer<int64_t>();
  return sinter::Var(std::move(var), min, max);
}

Dim dim(TextCursor& c) {
  if (!c.peek("\"")) return Dim(c.integer<int64_t>());
  std::string var = name(c);
  c.expect("=");
  const int64_t value = c.integer<int64_t>();
  return bounds(c, std::move(var))(value);
}

/// `[a, b, c]` of any item.
template <class Item>
auto list(TextCursor& c, Item item) {
  std::vector<decltype(item(c))> items;
  c.expect("[");
  while (!c.consume("]")) {
    if (!items.empty()) c.expect(",");
    items.push_back(item(c));
  }
  return items;
}

Ints ints(TextCursor& c) {
  return list(c, [](TextCursor& k) { return k.integer<int64_t>(); });
}

template <class Enum, size_t N>
bool one_of(TextCursor& c, const std::array<std::string_view, N>& names, Enum& value) {
  for (size_t i = 0; i < N; ++i)
    if (c.consume(fmt::format("{} ", names[i]))) return value = static_cast<Enum>(i), true;
  return false;
}

Region region(TextCursor& c) {
  Region box;
  while (c.consume("[")) {
    Dim begin = dim(c);
    c.expect(",");
    Dim end = dim(c);
    c.expect(")");
    box.push_back({begin, end});
  }
  return box;
}

Attr attribute(TextCursor& c) {
  Attr attr;
  ReduceAttr reduce;
  RangeAttr range;
  if (c.consume("= ")) {
    attr = number(c, next_word(c, "}"));
  } else if (c.peek("[")) {
    attr = ints(c);
  } else if (c.consume("box")) {
    attr = region(c);
  } else if (c.consume("window axis")) {
    WindowAttr window{c.integer<int64_t>(), 0};
    c.expect("step");
    window.step = c.integer<int64_t>();
    attr = window;
  } else if (c.consume("scatter ")) {
    ScatterAttr scatter;
    if (!one_of(c, kScatterNames, scatter.mode) || scatter.mode == ScatterMode{}) c.fail("no mode of a scatter");
    c.expect("axis");
    scatter.axis = c.integer<int64_t>();
    attr = scatter;
  } else if (c.consume("var ")) {
    std::string var = name(c);
    attr = bounds(c, std::move(var));
  } else if (one_of(c, kCombineNames, reduce.combine)) {
    c.expect("axes");
    reduce.axes = ints(c);
    c.expect("lanes");
    reduce.tree.lanes = c.integer<int>();
    c.expect("block");
    reduce.tree.block = c.integer<int64_t>();
    if (c.consume("group ")) reduce.tree.group = c.integer<int64_t>();
    reduce.tree.mma = c.consume("mma");
    if (c.consume("result ")) reduce.result = c.integer<int>();
    attr = reduce;
  } else if (one_of(c, kAxisNames, range.kind)) {
    range.id = c.integer<int>();
    attr = range;
  } else {
    attr = c.integer<int64_t>();
  }
  c.expect("}");
  return attr;
}

Device device(TextCursor& c) {
  if (c.consume("cpu")) return Device::cpu();
  c.expect("cuda:");
  return Device::cuda(c.integer<int>());
}

UOp reference(TextCursor& c, const std::vector<UOp>& nodes) {
  c.expect("%");
  const size_t n = c.integer<size_t>();
  if (n >= nodes.size()) c.fail(fmt::format("%{} is not defined before its use", n));
  return nodes[n];
}

UOp node(TextCursor& c, Graph& g, const std::vector<UOp>& nodes) {
  c.expect("%");
  if (c.integer<size_t>() != nodes.size()) c.fail(fmt::format("expected node %{}", nodes.size()));
  c.expect("=");
  Op op{};
  Attr attr;
  Sources src;
  Device on;
  const std::string_view name = next_word(c, "([");
  if (!op_named(name, op)) c.fail(fmt::format("no op is called \"{}\"", name));
  const std::string_view type = next_word(c, "[");
  const DType dtype = dtype_named(type);
  if (dtype == DType::Void && type != name_of(DType::Void)) c.fail(fmt::format("no type is called \"{}\"", type));
  const Shape shape = Shape(list(c, dim));
  if (c.consume("(")) {
    do src.push_back(reference(c, nodes));
    while (c.consume(","));
    c.expect(")");
  }
  if (c.consume("{")) attr = attribute(c);
  if (c.consume("@")) on = device(c);
  if (!c.at_end()) c.fail("expected the end of the line");
  return g.make({op, dtype, shape, std::move(src), attr, on});
}

}  // namespace

std::vector<UOp> parse(std::string_view text, Graph& g) {
  std::vector<UOp> nodes, roots;
  bool listed = false;
  size_t line = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    TextCursor c{text.substr(0, end), fmt::format("IR text, line {}", ++line)};
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line == 1) {
      if (c.text != "sinter-ir 1") c.fail("the first line is no \"sinter-ir 1\"");
      continue;
    }
    if (c.at_end()) continue;
    if (listed) c.fail("nothing follows the roots");
    if (c.consume("roots")) {
      listed = true;
      while (!c.at_end()) {
        if (!roots.empty()) c.expect(",");
        roots.push_back(reference(c, nodes));
      }
      continue;
    }
    nodes.push_back(node(c, g, nodes));
  }
  if (line == 0) throw UsageError("IR text: empty; the first line is \"sinter-ir 1\"");
  if (!listed && !nodes.empty()) roots.push_back(nodes.back());
  return roots;
}

UOp parse_one(std::string_view text, Graph& g) {
  std::vector<UOp> roots = parse(text, g);
  if (roots.size() != 1) throw UsageError(fmt::format("IR text: {} roots where one is expected", roots.size()));
  return roots[0];
}

}  // namespace sinter::ir
