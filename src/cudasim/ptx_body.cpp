// Parses function bodies: scopes of registers, variables and labels, and statements with resolved operands.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "cudasim/ptx_parser.h"

namespace sinter::runtime::cuda::sim {
namespace {

constexpr uint32_t kUnplaced = UINT32_MAX;

class BodyParser {
 public:
  BodyParser(PtxLexer& in, const PtxModule& module, PtxFunction& function)
      : in_(in), module_(module), function_(function), scopes_(1) {
    for (uint32_t i = 0; i < function.variables.size(); ++i) scopes_[0][function.variables[i].name] = {false, i};
  }
  void parse();

 private:
  struct Declaration {
    bool is_register = false;
    uint32_t index = 0;
  };

  void declare_registers();
  void declare_variable(StateSpace space);
  void parse_place();
  void parse_statement();
  void resolve_jump(PtxStatement& statement);
  void place_label(std::string_view name);
  bool accept_table(std::string_view label);
  uint32_t label(std::string_view name);
  std::optional<Declaration> find(std::string_view name) const;
  PtxOperand parse_operand();
  PtxOperand parse_name(std::string_view name);
  std::vector<PtxOperand> parse_operands(std::string_view end);

  PtxLexer& in_;
  const PtxModule& module_;
  PtxFunction& function_;
  std::vector<std::unordered_map<std::string, Declaration>> scopes_;
  std::unordered_map<std::string, uint32_t> labels_;
  SourceLocation place_;
};

void BodyParser::declare_registers() {
  const std::string_view type = in_.take();
  const int64_t bytes = type_bytes(type.substr(1));
  if (bytes < 0) in_.fail(fmt::format("'{}' is no type of a register", type));
  const auto declare = [&](std::string name) {
    scopes_.back()[std::move(name)] = {true, static_cast<uint32_t>(function_.register_bytes.size())};
    function_.register_bytes.push_back(static_cast<uint8_t>(bytes));
  };
  do {
    const std::string name(in_.take());
    if (in_.accept("<")) {
      const int64_t count = parse_number(in_).value;
      in_.expect(">");
      for (int64_t i = 0; i < count; ++i) declare(name + std::to_string(i));
    } else {
      declare(name);
    }
  } while (in_.accept(","));
  in_.expect(";");
}

void BodyParser::declare_variable(StateSpace space) {
  PtxVariable variable = parse_variable(in_, space, false);
  in_.expect(";");
  scopes_.back()[variable.name] = {false, static_cast<uint32_t>(function_.variables.size())};
  function_.variables.push_back(std::move(variable));
}

// .loc file line column [, function_name x [+ n], inlined_at file line column]: the innermost location is reported.
void BodyParser::parse_place() {
  place_.file = static_cast<int>(parse_number(in_).value);
  const int line = static_cast<int>(parse_number(in_).value);
  if (line) place_.line = line;  // 0: code without a line of its own; keep the previous line
  parse_number(in_);
  if (!in_.accept(",")) return;
  in_.expect("function_name");
  in_.take();
  if (in_.accept("+")) parse_number(in_);
  in_.expect(",");
  in_.expect("inlined_at");
  for (int i = 0; i < 3; ++i) parse_number(in_);
}

uint32_t BodyParser::label(std::string_view name) {
  const auto [found, added] = labels_.try_emplace(std::string(name), static_cast<uint32_t>(function_.labels.size()));
  if (added) {
    function_.labels.push_back(kUnplaced);
    function_.label_names.emplace_back(name);
  }
  return found->second;
}

void BodyParser::place_label(std::string_view name) {
  uint32_t& place = function_.labels[label(name)];
  if (place != kUnplaced) in_.fail(fmt::format("the label {} stands twice", name));
  place = static_cast<uint32_t>(function_.statements.size());
}

bool BodyParser::accept_table(std::string_view name) {
  if (!in_.accept(".branchtargets")) return false;
  BranchTable table{std::string(name), {}};
  do table.labels.push_back(label(in_.take()));
  while (in_.accept(","));
  in_.expect(";");
  function_.tables.push_back(std::move(table));
  return true;
}

std::optional<BodyParser::Declaration> BodyParser::find(std::string_view name) const {
  const std::string key(name);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->find(key); found != scope->end()) return found->second;
  return std::nullopt;
}

PtxOperand BodyParser::parse_name(std::string_view name) {
  PtxOperand out;
  if (name == "_") return out;
  if (const auto found = find(name)) {
    out.kind = found->is_register ? PtxOperand::Kind::Register : PtxOperand::Kind::Symbol;
    out.index = found->index;
    return out;
  }
  for (uint32_t i = 0; i < module_.variables.size(); ++i)
    if (module_.variables[i].name == name) {
      out.kind = PtxOperand::Kind::Symbol;
      out.global = true;
      out.index = i;
      return out;
    }
  out.kind = name[0] == '%' ? PtxOperand::Kind::Special : PtxOperand::Kind::Name;
  out.name = name;
  return out;
}

PtxOperand BodyParser::parse_operand() {
  PtxOperand out;
  if (in_.accept("[")) {
    out.kind = PtxOperand::Kind::Address;
    out.items.push_back(parse_operand());
    out.value = std::exchange(out.items[0].value, 0);
    in_.expect("]");
    return out;
  }
  if (in_.peek() == "{" || in_.peek() == "(") {
    const bool vector = in_.take() == "{";
    out.kind = vector ? PtxOperand::Kind::Vector : PtxOperand::Kind::List;
    out.items = parse_operands(vector ? "}" : ")");
    return out;
  }
  if (in_.accept("!")) {
    out = parse_operand();
    out.negated = true;
    return out;
  }
  const char first = in_.peek().empty() ? ' ' : in_.peek()[0];
  if (first == '-' || (first >= '0' && first <= '9')) {
    const PtxNumber number = parse_number(in_);
    out.kind = number.kind;
    out.value = number.value;
    return out;
  }
  out = parse_name(in_.take());
  if (in_.accept("+") || in_.peek() == "-") out.value = parse_number(in_).value;
  if (in_.accept("|")) out.second.push_back(parse_operand());
  return out;
}

std::vector<PtxOperand> BodyParser::parse_operands(std::string_view end) {
  std::vector<PtxOperand> out;
  if (in_.accept(end)) return out;
  do out.push_back(parse_operand());
  while (in_.accept(","));
  in_.expect(end);
  return out;
}

void BodyParser::resolve_jump(PtxStatement& statement) {
  for (PtxOperand& operand : statement.operands) {
    if (operand.kind != PtxOperand::Kind::Name) continue;
    if (statement.opcode[0] == "bra") {
      operand.kind = PtxOperand::Kind::Label;
      operand.index = label(operand.name);
    }
    for (uint32_t i = 0; statement.opcode[0] == "brx" && i < function_.tables.size(); ++i)
      if (function_.tables[i].name == operand.name) {
        operand.kind = PtxOperand::Kind::Table;
        operand.index = i;
      }
  }
}

void BodyParser::parse_statement() {
  const size_t begin = in_.begin();
  PtxStatement statement;
  statement.place = place_;
  if (in_.accept("@")) {
    statement.guard_negated = in_.accept("!");
    const std::string name(in_.take());
    const auto found = find(name);
    if (!found || !found->is_register) in_.fail(fmt::format("{} is no predicate", name));
    statement.guard = static_cast<int>(found->index);
  }
  const std::string_view opcode = in_.take();
  if (in_.peek() == ":") {  // "x:" or a table of branch targets
    in_.take();
    if (!accept_table(opcode)) place_label(opcode);
    return;
  }
  for (size_t at = 0; at <= opcode.size();) {
    const size_t end = std::min(opcode.find('.', at), opcode.size());
    statement.opcode.emplace_back(opcode.substr(at, end - at));
    at = end + 1;
  }
  statement.operands = parse_operands(";");
  resolve_jump(statement);
  statement.text = in_.text_between(begin, in_.begin());
  function_.statements.push_back(std::move(statement));
}

void BodyParser::parse() {
  in_.expect("{");
  for (size_t depth = 1; depth;) {
    if (in_.accept("{")) {
      ++depth;
      scopes_.emplace_back();
    } else if (in_.accept("}")) {
      --depth;
      scopes_.pop_back();
    } else if (in_.accept(".reg")) {
      declare_registers();
    } else if (in_.accept(".loc")) {
      parse_place();
    } else if (in_.accept(".pragma")) {
      while (!in_.accept(";")) in_.take();
    } else if (in_.accept(".shared")) {
      declare_variable(StateSpace::Shared);
    } else if (in_.accept(".local") || in_.accept(".param")) {
      declare_variable(StateSpace::Local);
    } else if (in_.accept(".global") || in_.accept(".const")) {
      declare_variable(StateSpace::Global);
    } else if (!in_.accept(";")) {
      parse_statement();
    }
  }
  for (size_t i = 0; i < function_.labels.size(); ++i)
    if (function_.labels[i] == kUnplaced)
      throw PtxError(fmt::format("the function {} has no label {}", function_.name, function_.label_names[i]));
}

}  // namespace

void parse_body(PtxLexer& in, const PtxModule& module, PtxFunction& function) {
  BodyParser(in, module, function).parse();
}

}  // namespace sinter::runtime::cuda::sim
