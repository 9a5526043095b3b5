// Verifier and printer of the SSA form.
#include "codegen/ssa/instructions.h"

#include <fmt/core.h>

#include "ir/attr.h"
#include "sinter/error.h"

namespace sinter::codegen {
namespace {

std::string_view name(InstCode code) {
  // clang-format off
  constexpr std::string_view kNames[] = {
      "begin", "end", "thread", "const", "var", "arg", "alu", "splat", "iota", "below", "pack", "interleave",
      "transpose", "part", "load", "store", "stream", "fence", "prefetch", "raise", "accumulator", "accumulator_read",
      "accumulator_write", "shuffle", "mma", "mma_step", "load_matrices", "copy_async", "commit_copies",
      "wait_copies", "barrier", "loop", "if"};
  // clang-format on
  return kNames[static_cast<int>(code)];
}

class InstructionChecker {
 public:
  explicit InstructionChecker(const Instructions& code)
      : code_(code), seen_(code.insts.size(), 0), used_(code.blocks.size(), 0) {}

  void block(int b) {
    if (used_[b]++) throw InternalError(fmt::format("codegen: block {} is used twice", b));
    const std::vector<Id>& ids = code_.blocks[b];
    for (Id id : ids) {
      check(id);
      seen_[id] = 1;
      if (code_[id].block >= 0) block(code_[id].block);
      if (code_[id].code == InstCode::Loop) seen_[id] = 2;  // its variable is in scope inside only
    }
    for (Id id : ids) seen_[id] = 2;  // closed: no longer in scope
  }

 private:
  void require(bool ok, Id id, std::string_view what) const {
    if (!ok) throw InternalError(fmt::format("codegen: instruction {} ({}): {}", id, name(code_[id].code), what));
  }
  Type type(Id id) const { return code_[id].type; }
  /// A scalar Index of either width.
  bool index(Id id) const { return type(id).dtype == DType::Index && type(id).lanes == 1; }
  const MemorySlot& slot(const Inst& n) const { return code_.slots.at(static_cast<size_t>(n.imm)); }

  void check(Id id) const {
    const Inst& n = code_[id];
    require(seen_[id] == 0, id, "stands in two places");
    for (Id s : n.src) {
      require(s >= 0 && s < static_cast<Id>(code_.insts.size()), id, "lacks a source");
      require(seen_[s] == 1, id, fmt::format("uses {}, which is not in scope", s));
    }
    switch (n.code) {
      case InstCode::Alu: return alu(id, n);
      case InstCode::Splat: return require(type(n.src[0]) == Type{n.type.dtype, 1}, id, "repeats another type");
      case InstCode::Pack:
        for (Id s : n.src) require(type(s) == type(n.src[0]), id, "mixes types");
        return require(static_cast<int>(n.src.size()) * type(n.src[0]).lanes == n.type.lanes, id,
                       "has another number of lanes");
      case InstCode::Interleave: {
        const int64_t block = n.imm < 0 ? -n.imm : n.imm;
        require(type(n.src[0]) == n.type && type(n.src[1]) == n.type, id, "takes another type");
        return require(block > 0 && n.type.lanes % (2 * block) == 0, id, "has blocks that are no half of the lanes");
      }
      case InstCode::Transpose: {
        for (Id s : n.src) require(type(s) == n.type, id, "takes another type");
        const auto count = static_cast<int64_t>(n.src.size());
        require(n.imm > 0 && count * n.type.lanes % n.imm == 0, id, "has columns that are not full");
        return require(n.number.as_int() >= 0 && n.number.as_int() < count, id, "is a part that is not there");
      }
      case InstCode::Below: return require(index(n.src[0]) && n.type.dtype == DType::Bool, id, "counts no lanes");
      case InstCode::Part:
        return require(
            type(n.src[0]).dtype == n.type.dtype && n.imm >= 0 && n.imm + n.type.lanes <= type(n.src[0]).lanes, id,
            "takes lanes that are not there");
      case InstCode::Load: {
        const bool predicated = n.src.size() > 2;
        const bool gathers = n.src.size() == 4 && type(n.src[1]).lanes > 1;
        require(slot(n).dtype == n.type.dtype && index(n.src[0]), id, "loads another type");
        require(!predicated || (type(n.src[1]).dtype == DType::Bool && type(n.src[2]) == n.type), id,
                "has a bad predicate");
        require(!predicated || type(n.src[1]).lanes == 1 || (type(n.src[1]).lanes == n.type.lanes && n.src.size() <= 4),
                id, "has a predicate for other lanes");
        if (gathers) return require(type(n.src[3]) == Type{DType::Index, n.type.lanes}, id, "has lanes at no indices");
        return require(n.src.size() % 2 == 1 || index(n.src.back()), id, "has a count that is no index");
      }
      case InstCode::Stream:
        require(n.src.size() == 2 && type(n.src[1]).lanes > 1, id, "stores no whole vector");
        [[fallthrough]];
      case InstCode::Store:
        require(slot(n).written, id, "stores to a buffer that is only read");
        require(n.src.size() == 2 || index(n.src[2]), id, "has a count that is no index");
        require(n.src.size() == 2 || n.number.as_int() == 0, id, "has lanes apart and a count");
        return require(slot(n).dtype == type(n.src[1]).dtype && index(n.src[0]), id, "stores another type");
      case InstCode::Raise: return require(type(n.src[0]).dtype == DType::Bool, id, "has a condition that is not bool");
      case InstCode::If: return require(type(n.src[0]) == Type{DType::Bool, 1}, id, "has a condition that is not bool");
      case InstCode::Accumulator: return require(type(n.src[0]) == n.type, id, "begins as another type");
      case InstCode::AccumulatorRead:
      case InstCode::AccumulatorWrite: {
        const Inst& acc = code_[n.src[0]];
        const size_t plain = n.code == InstCode::AccumulatorRead ? 1 : 2;
        require(acc.code == InstCode::Accumulator, id, "has no accumulator");
        require(acc.type == (plain == 1 ? n.type : type(n.src[1])), id, "is of another type than the accumulator");
        return require(n.src.size() == (acc.imm > 1 ? plain + 1 : plain) && (acc.imm <= 1 || index(n.src.back())), id,
                       "takes no cell, or one where there are none");
      }
      case InstCode::Loop:
        require(index(n.src[0]) && index(n.src[1]) && n.imm > 0, id, "has bad bounds");
        return require(
            code_[n.src[0]].code == InstCode::Begin || (type(n.src[0]) == n.type && type(n.src[1]) == n.type), id,
            "has bounds of another width");
      case InstCode::Shuffle:
        return require(type(n.src[0]) == n.type && index(n.src[1]), id,
                       "takes another type, or a lane that is no index");
      case InstCode::Mma: {
        const DType sum = ir::mma_sum(static_cast<DType>(n.imm));
        require(n.type == Type{sum, 4} && n.src.size() >= 3, id, "is no tile of results");
        for (size_t i = 0; i < n.src.size(); ++i)
          require(type(n.src[i]).dtype == (i == 0 || i + 6 < n.src.size() ? sum : DType::U32), id,
                  "has sources that are no sums or words");
        return;
      }
      case InstCode::MmaStep:
        return require(n.type == Type{ir::mma_sum(type(n.src[1]).dtype), 1} && type(n.src[0]) == n.type, id,
                       "adds to no sum of its factors");
      case InstCode::LoadMatrices: {
        const size_t size = size_of(slot(n).dtype);
        return require(
            n.type.dtype == DType::U32 && index(n.src[0]) && (size == 2 || (size == 1 && !n.number.as_int())), id,
            "loads other than words of 16-bit elements or of bytes along a row");
      }
      case InstCode::CopyAsync:
        require(slot(n).dtype == n.type.dtype && slot(n).written &&
                    code_.slots.at(static_cast<size_t>(n.number.as_int())).dtype == n.type.dtype,
                id, "copies another type");
        return require(
            index(n.src[0]) && index(n.src[1]) && (n.src.size() == 2 || type(n.src[2]) == Type{DType::Bool, 1}), id,
            "has no two addresses");
      case InstCode::Thread:
        return require(n.imm >= 1 && n.number.as_int() >= 1 && code_.threads % (n.imm * n.number.as_int()) == 0, id,
                       "is no digit of the block's threads");
      case InstCode::Prefetch: return require(index(n.src[0]), id, "has an address that is no index");
      case InstCode::CommitCopies:
      case InstCode::WaitCopies:
      case InstCode::Fence:
      case InstCode::Barrier:
      case InstCode::Begin:
      case InstCode::End:
      case InstCode::Const:
      case InstCode::Var:
      case InstCode::Arg:
      case InstCode::Iota: return;
    }
  }

  void alu(Id id, const Inst& n) const {
    require(ir::is_alu(n.op) && static_cast<int>(n.src.size()) == ir::info(n.op).arity, id,
            "has another number of sources");
    for (Id s : n.src) require(type(s).lanes == n.type.lanes, id, "mixes numbers of lanes");
    const Type last = type(n.src.back());
    for (size_t i = n.op == Op::Where ? 1 : 0; i < n.src.size(); ++i)
      require(type(n.src[i]) == last, id, "mixes types");
    if (n.op == Op::Where) require(type(n.src[0]).dtype == DType::Bool, id, "selects by a type that is not bool");
    require(n.imm == 0 || ((n.op == Op::Max || n.op == Op::Min) && is_float(n.type.dtype)), id,
            "gives either zero and is no maximum or minimum of floats");
    const ir::ResultType result = ir::info(n.op).result;
    if (result == ir::ResultType::Same) require(n.type == last, id, "results in another type");
    if (result == ir::ResultType::Bool) require(n.type.dtype == DType::Bool, id, "results in no bool");
  }

  const Instructions& code_;
  std::vector<char> seen_;
  std::vector<int> used_;
};

void print(const Instructions& code, int block, size_t indent, std::string& text) {
  for (Id id : code.blocks[block]) {
    const Inst& n = code[id];
    text += fmt::format("{}{} = {}", std::string(indent, ' '), id,
                        n.code == InstCode::Alu ? ir::info(n.op).name : name(n.code));
    if (n.type.dtype != DType::Void) text += fmt::format(" {}", name_of(n.type.dtype));
    if (n.type.narrow) text += "32";
    if (n.type.lanes > 1) text += fmt::format("x{}", n.type.lanes);
    if (n.code == InstCode::Store && n.number.as_int() != 0) text += fmt::format(" apart {}", n.number.as_int());
    if (n.code == InstCode::Const)
      text += n.number.floating() ? fmt::format(" {}", n.number.as_double()) : fmt::format(" {}", n.number.as_int());
    for (Id s : n.src) text += fmt::format(" %{}", s);
    if (n.imm) text += fmt::format(" #{}", n.imm);
    if (!n.note.empty()) text += "  ; " + n.note;
    text += "\n";
    if (n.block >= 0) print(code, n.block, indent + 2, text);
  }
}

}  // namespace

void verify(const Instructions& code) { InstructionChecker(code).block(0); }

std::string to_string(const Instructions& code) {
  std::string text;
  print(code, 0, 0, text);
  return text;
}

}  // namespace sinter::codegen
