// Checking and printing of instructions.
#include "codegen/instructions.h"

#include <fmt/core.h>

#include "sinter/error.h"

namespace sinter::codegen {
namespace {

using ir::Op;

std::string_view name(Code code) {
  constexpr std::string_view kNames[] = {"begin",       "end",    "const",  "var",  "arg",  "alu",   "splat",
                                         "iota",        "pack",   "lane",   "half", "load", "store", "raise",
                                         "accumulator", "result", "assign", "loop", "if"};
  return kNames[static_cast<int>(code)];
}

class Checker {
 public:
  explicit Checker(const Instructions& code) : code_(code), seen_(code.insts.size(), 0), used_(code.blocks.size(), 0) {}

  void block(int b) {
    if (used_[static_cast<size_t>(b)]++) throw InternalError(fmt::format("codegen: block {} is used twice", b));
    const std::vector<Id>& ids = code_.blocks[static_cast<size_t>(b)];
    for (Id id : ids) {
      check(id);
      seen_[static_cast<size_t>(id)] = 1;
      if (code_[id].block >= 0) block(code_[id].block);
      if (code_[id].code == Code::Loop) seen_[static_cast<size_t>(id)] = 2;  // its variable lives inside only
    }
    for (Id id : ids) seen_[static_cast<size_t>(id)] = 2;  // closed: no longer in scope
  }

 private:
  void require(bool ok, Id id, std::string_view what) const {
    if (!ok) throw InternalError(fmt::format("codegen: instruction {} ({}): {}", id, name(code_[id].code), what));
  }
  Type type(Id id) const { return code_[id].type; }

  void check(Id id) const {
    const Inst& n = code_[id];
    require(seen_[static_cast<size_t>(id)] == 0, id, "stands in two places");
    for (Id s : n.src) {
      require(s >= 0 && s < static_cast<Id>(code_.insts.size()), id, "lacks a source");
      require(seen_[static_cast<size_t>(s)] == 1, id, fmt::format("uses {}, which is not in scope", s));
    }
    switch (n.code) {
      case Code::Alu: return alu(id, n);
      case Code::Splat: return require(type(n.src[0]) == Type{n.type.dtype, 1}, id, "repeats another type");
      case Code::Pack:
        return require(static_cast<int>(n.src.size()) == n.type.lanes, id, "has another number of lanes");
      case Code::Lane:
        return require(type(n.src[0]).dtype == n.type.dtype && n.type.lanes == 1, id, "takes another type");
      case Code::Half:
        return require(type(n.src[0]) == Type{n.type.dtype, 2 * n.type.lanes}, id, "halves another type");
      case Code::Load:
        require(
            code_.slots[static_cast<size_t>(n.imm)].dtype == n.type.dtype && type(n.src[0]) == Type{DType::Index, 1},
            id, "loads another type");
        return require(n.src.size() == 1 || (type(n.src[1]) == Type{DType::Bool, 1} && type(n.src[2]) == n.type), id,
                       "has a bad gate");
      case Code::Store:
        require(code_.slots[static_cast<size_t>(n.imm)].written, id, "stores to a buffer that is only read");
        return require(code_.slots[static_cast<size_t>(n.imm)].dtype == type(n.src[1]).dtype &&
                           type(n.src[0]) == Type{DType::Index, 1},
                       id, "stores another type");
      case Code::Raise:
      case Code::If: return require(type(n.src[0]) == Type{DType::Bool, 1}, id, "has a condition that is not bool");
      case Code::Accumulator: return require(type(n.src[0]) == n.type, id, "begins as another type");
      case Code::Result:
        return require(code_[n.src[0]].code == Code::Accumulator && type(n.src[0]) == n.type, id,
                       "reads no accumulator");
      case Code::Assign:
        require(code_[n.src[0]].code == Code::Accumulator, id, "assigns to no accumulator");
        return require(type(n.src[1]) == (n.src.size() == 2 ? type(n.src[0]) : Type{type(n.src[0]).dtype, 1}), id,
                       "assigns another type");
      case Code::Loop:
        return require(type(n.src[0]).dtype == DType::Index && type(n.src[1]).dtype == DType::Index && n.imm > 0, id,
                       "has bad bounds");
      case Code::Begin:
      case Code::End:
      case Code::Const:
      case Code::Var:
      case Code::Arg:
      case Code::Iota: return;
    }
  }

  void alu(Id id, const Inst& n) const {
    require(ir::is_alu(n.op) && static_cast<int>(n.src.size()) == ir::info(n.op).arity, id,
            "has another number of sources");
    for (Id s : n.src) require(type(s).lanes == n.type.lanes, id, "mixes numbers of lanes");
    const DType last = type(n.src.back()).dtype;
    for (size_t i = n.op == Op::Where ? 1 : 0; i < n.src.size(); ++i)
      require(type(n.src[i]).dtype == last, id, "mixes types");
    if (n.op == Op::Where) require(type(n.src[0]).dtype == DType::Bool, id, "selects by a type that is not bool");
    const ir::ResultType result = ir::info(n.op).result;
    if (result == ir::ResultType::Same) require(n.type.dtype == last, id, "results in another type");
    if (result == ir::ResultType::Bool) require(n.type.dtype == DType::Bool, id, "results in no bool");
  }

  const Instructions& code_;
  std::vector<char> seen_;
  std::vector<int> used_;
};

void print(const Instructions& code, int block, size_t indent, std::string& text) {
  for (Id id : code.blocks[static_cast<size_t>(block)]) {
    const Inst& n = code[id];
    text += fmt::format("{}{} = {}", std::string(indent, ' '), id,
                        n.code == Code::Alu ? ir::info(n.op).name : name(n.code));
    if (n.type.dtype != DType::Void) text += fmt::format(" {}", name_of(n.type.dtype));
    if (n.type.lanes > 1) text += fmt::format("x{}", n.type.lanes);
    if (n.code == Code::Const)
      text += n.number.floating() ? fmt::format(" {}", n.number.as_double()) : fmt::format(" {}", n.number.as_int());
    for (Id s : n.src) text += fmt::format(" %{}", s);
    if (n.imm) text += fmt::format(" #{}", n.imm);
    if (!n.note.empty()) text += "  ; " + n.note;
    text += "\n";
    if (n.block >= 0) print(code, n.block, indent + 2, text);
  }
}

}  // namespace

bool has_effect(Code code) {
  switch (code) {
    case Code::Store:
    case Code::Raise:
    case Code::Assign:
    case Code::Loop:
    case Code::If: return true;
    default: return false;
  }
}

void verify(const Instructions& code) { Checker(code).block(0); }

std::string to_string(const Instructions& code) {
  std::string text;
  print(code, 0, 0, text);
  return text;
}

}  // namespace sinter::codegen
