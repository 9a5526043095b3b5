// Inlines calls. The parameters of a call are local variables of the caller; the callee's formal parameters become
// aliases of them.
#include <fmt/core.h>

#include <algorithm>

#include "cudasim/ptx.h"

namespace sinter::runtime::cuda::sim {
namespace {

/// Maps the callee's indices to the caller's.
struct Renaming {
  uint32_t registers, labels, tables;
  std::vector<uint32_t> variables;
};

void rename(PtxOperand& operand, const Renaming& by) {
  if (operand.kind == PtxOperand::Kind::Register) operand.index += by.registers;
  if (operand.kind == PtxOperand::Kind::Label) operand.index += by.labels;
  if (operand.kind == PtxOperand::Kind::Table) operand.index += by.tables;
  if (operand.kind == PtxOperand::Kind::Symbol && !operand.global) operand.index = by.variables[operand.index];
  for (PtxOperand& item : operand.items) rename(item, by);
  for (PtxOperand& item : operand.second) rename(item, by);
}

class Inliner {
 public:
  explicit Inliner(const PtxModule& module) : module_(module) {}

  void expand(PtxFunction& function) {
    if (std::ranges::none_of(function.statements, is_call)) return;
    if (std::ranges::find(open_, function.name) != open_.end())
      throw PtxError(
          fmt::format("the function {} calls itself, which the simulated device does not run", function.name));
    open_.push_back(function.name);
    std::vector<PtxStatement> old = std::move(function.statements);
    std::vector<uint32_t> moved(old.size() + 1);
    std::vector<uint32_t> labels = std::move(function.labels);
    function.statements.clear();
    function.labels.assign(labels.size(), 0);
    for (size_t i = 0; i < old.size(); ++i) {
      moved[i] = static_cast<uint32_t>(function.statements.size());
      if (is_call(old[i]))
        splice(function, old[i]);
      else
        function.statements.push_back(std::move(old[i]));
    }
    moved.back() = static_cast<uint32_t>(function.statements.size());
    for (size_t i = 0; i < labels.size(); ++i) function.labels[i] = moved[labels[i]];
    open_.pop_back();
  }

 private:
  static bool is_call(const PtxStatement& statement) { return statement.opcode[0] == "call"; }

  PtxFunction callee(const PtxStatement& call) {
    for (const PtxOperand& operand : call.operands)
      for (const PtxFunction& function : module_.functions)
        if (operand.kind == PtxOperand::Kind::Name && function.name == operand.name) {
          PtxFunction out = function;
          expand(out);
          return out;
        }
    throw PtxError(fmt::format("'{}' calls a function that this module does not define", call.text));
  }

  void splice(PtxFunction& caller, const PtxStatement& call) {
    if (call.guard >= 0) throw PtxError(fmt::format("'{}': a call under a predicate is not supported", call.text));
    PtxFunction body = callee(call);
    Renaming by{static_cast<uint32_t>(caller.register_bytes.size()),
                static_cast<uint32_t>(caller.labels.size()),
                static_cast<uint32_t>(caller.tables.size()),
                {}};
    by.variables.assign(body.variables.size(), UINT32_MAX);
    bind(call, body, by.variables);
    for (size_t i = 0; i < body.variables.size(); ++i)
      if (by.variables[i] == UINT32_MAX) {
        by.variables[i] = static_cast<uint32_t>(caller.variables.size());
        caller.variables.push_back(body.variables[i]);
      }
    caller.register_bytes.insert(caller.register_bytes.end(), body.register_bytes.begin(), body.register_bytes.end());
    const uint32_t start = static_cast<uint32_t>(caller.statements.size());
    for (const uint32_t at : body.labels) caller.labels.push_back(start + at);
    caller.label_names.insert(caller.label_names.end(), body.label_names.begin(), body.label_names.end());
    for (BranchTable& table : body.tables) {
      for (uint32_t& label : table.labels) label += by.labels;
      caller.tables.push_back(std::move(table));
    }
    const uint32_t end = static_cast<uint32_t>(caller.labels.size());
    caller.labels.push_back(start + static_cast<uint32_t>(body.statements.size()));
    caller.label_names.push_back("the end of " + body.name);
    for (PtxStatement& statement : body.statements) {
      for (PtxOperand& operand : statement.operands) rename(operand, by);
      if (statement.guard >= 0) statement.guard += static_cast<int>(by.registers);
      if (statement.opcode[0] == "ret") {
        statement.opcode = {"bra"};
        statement.operands.assign(1, {});
        statement.operands[0].kind = PtxOperand::Kind::Label;
        statement.operands[0].index = end;
      }
      caller.statements.push_back(std::move(statement));
    }
  }

  /// Maps the callee's parameters and result to variables of the caller.
  static void bind(const PtxStatement& call, const PtxFunction& body, std::vector<uint32_t>& variables) {
    bool named = false;
    for (const PtxOperand& operand : call.operands) {
      named |= operand.kind == PtxOperand::Kind::Name;
      if (operand.kind != PtxOperand::Kind::List) continue;
      const std::vector<uint32_t>& formal = named ? body.params : body.results;
      if (formal.size() != operand.items.size())
        throw PtxError(fmt::format("'{}' passes {} parameters or results, {} has {}", call.text, operand.items.size(),
                                   body.name, formal.size()));
      for (size_t i = 0; i < formal.size(); ++i) {
        if (operand.items[i].kind != PtxOperand::Kind::Symbol)
          throw PtxError(fmt::format("'{}': parameters in registers are not supported", call.text));
        variables[formal[i]] = operand.items[i].index;
      }
    }
  }

  const PtxModule& module_;
  std::vector<std::string> open_;  // the functions being expanded
};

}  // namespace

void inline_calls(const PtxModule& module, PtxFunction& function) { Inliner(module).expand(function); }

}  // namespace sinter::runtime::cuda::sim
