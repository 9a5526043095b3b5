// Expressions in one line. Operands are collected on a stack. Literals stay untyped until another operand gives the
// type.
#include <fmt/core.h>

#include <utility>

#include "ir/build.h"
#include "ir_text/parse.h"
#include "ir_text/words.h"

namespace sinter::ir {
namespace {

struct ExprOperand {
  UOp node;
  Scalar literal;  ///< if node is null
};

struct PartialExpr {
  Op op;
  DType to;  ///< of Cast and Bitcast
  std::vector<ExprOperand> operands;
};

DType type_named(std::string_view s) {
  constexpr std::pair<std::string_view, DType> kShort[] = {
      {"f32", DType::F32}, {"f64", DType::F64}, {"i8", DType::I8},    {"i16", DType::I16},
      {"i32", DType::I32}, {"i64", DType::I64}, {"u8", DType::U8},    {"u16", DType::U16},
      {"u32", DType::U32}, {"u64", DType::U64}, {"bool", DType::Bool}};
  for (const auto& [text, dtype] : kShort)
    if (text == s) return dtype;
  return dtype_named(s);
}

UOp literal(Graph& g, Scalar value, DType dtype) {
  Scalar exact = value.floating() ? Scalar::of(dtype, value.as_double()) : Scalar::of(dtype, value.as_int());
  return constant(g, exact, dtype);
}

UOp build(TextCursor& c, Graph& g, PartialExpr open) {
  const size_t first = open.op == Op::Where ? 1 : 0;
  DType dtype = DType::Void;
  for (size_t i = first; i < open.operands.size(); ++i)
    if (open.operands[i].node) dtype = open.operands[i].node->dtype;
  if (open.operands.empty() || (dtype == DType::Void && open.op != Op::Where))
    c.fail("no operand has a type; write 1:i32");
  if (dtype == DType::Void) dtype = DType::Bool;
  std::vector<UOp> src;
  for (size_t i = 0; i < open.operands.size(); ++i) {
    const ExprOperand& o = open.operands[i];
    src.push_back(o.node ? o.node : literal(g, o.literal, i < first ? DType::Bool : dtype));
  }
  try {
    if (open.op == Op::Cast) return cast(src[0], open.to);
    if (open.op == Op::Bitcast) return bitcast(src[0], open.to);
    return alu(open.op, src);
  } catch (const InternalError& e) { c.fail(e.what()); }
}

ExprOperand leaf(TextCursor& c, Graph& g, Names& names) {
  std::string_view word = next_word(c, "()");
  const size_t colon = word.find(':');
  if (colon != std::string_view::npos && !word.starts_with("nan:")) {
    const std::string key(word.substr(0, colon));
    const std::string_view type = word.substr(colon + 1);
    const bool numeral = !key.empty() && (std::isdigit(static_cast<unsigned char>(key[0])) || key[0] == '-');
    if (!numeral && names.contains(key)) c.fail(fmt::format("{} has its type already", key));
    if (!type.empty() && std::isdigit(static_cast<unsigned char>(type[0]))) {
      const int id = static_cast<int>(names.size());
      return {names[key] = range(constant(g, DType::Index, number(c, type).as_int()), id, AxisKind::Outer), {}};
    }
    const DType dtype = type_named(type);
    if (dtype == DType::Void) c.fail(fmt::format("no type is called \"{}\"", type));
    if (numeral) return {literal(g, number(c, key), dtype), {}};
    return {names[key] = argument(g, static_cast<int64_t>(names.size()), dtype), {}};
  }
  if (auto it = names.find(word); it != names.end()) return {it->second, {}};
  if (word == "true" || word == "false") return {constant(g, DType::Bool, word == "true" ? 1 : 0), {}};
  return {{}, number(c, word)};
}

}  // namespace

UOp parse_expr(std::string_view text, Graph& g, Names& names) {
  TextCursor c{text, "expression"};
  std::vector<PartialExpr> stack;
  ExprOperand result;
  bool have = false;
  do {
    if (have) c.fail("expected the end");
    if (c.consume("(")) {
      PartialExpr open{};
      std::string_view op = next_word(c, "()");
      const size_t colon = op.find(':');
      if (colon != std::string_view::npos) open.to = type_named(op.substr(colon + 1)), op = op.substr(0, colon);
      if (!op_named(op, open.op) || !is_alu(open.op)) c.fail(fmt::format("no elementwise op is called \"{}\"", op));
      stack.push_back(std::move(open));
      continue;
    }
    ExprOperand operand;
    if (c.consume(")")) {
      if (stack.empty()) c.fail("nothing is open");
      operand.node = build(c, g, std::exchange(stack.back(), {}));
      stack.pop_back();
    } else {
      operand = leaf(c, g, names);
    }
    if (stack.empty())
      result = operand, have = true;
    else
      stack.back().operands.push_back(operand);
  } while (!c.at_end());
  if (!have) c.fail("expected more");
  if (!result.node) c.fail("a constant alone has no type; write 1:i32");
  return result.node;
}

}  // namespace sinter::ir
