// Chooses a width for every integer from its bounds, and inserts casts where widths differ. A GPU's integer units are
// 32 bits wide; 64-bit arithmetic takes several instructions.
#include "codegen/gpu/gpu_passes.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "codegen/ssa/integer_bounds.h"

namespace sinter::codegen {
namespace {

constexpr IntegerBounds kInt32{std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
constexpr IntegerBounds kUInt32{0, std::numeric_limits<uint32_t>::max()};

class IndexNarrower {
 public:
  IndexNarrower(const Instructions& code, int64_t max_blocks, std::span<const Var> vars)
      : code_(code),
        max_blocks_(max_blocks),
        vars_(vars),
        bounds_(code.insts.size()),
        narrow_(code.insts.size()),
        other_(code.insts.size(), kNone),
        out_(code) {}

  Instructions run() {
    visit(0, [&](Id id) { choose_width(id); });
    visit(0, [&](Id id) { adapt(id); });
    for (size_t b = 0; b < code_.blocks.size(); ++b) place(b);
    return std::move(out_);
  }

 private:
  /// Visits definitions before uses.
  template <class F>
  void visit(int block, F f) {
    for (Id id : code_.blocks[block]) {
      f(id);
      if (code_[id].block >= 0) visit(code_[id].block, f);
    }
  }

  // ---- bounds
  IntegerBounds of(Id id) const { return bounds_[id]; }

  // ---- widths
  /// Whether a value may have either width.
  bool elastic(Id id) const { return code_[id].type == Type{DType::Index, 1} || code_[id].type == Type{DType::U64, 1}; }
  bool is_narrow(Id id) const { return narrow_[id]; }
  bool fits(Id id) const { return of(id).within(code_[id].type.dtype == DType::U64 ? kUInt32 : kInt32); }
  bool sources_fit(const Inst& n) const {
    return std::ranges::all_of(n.src, [&](Id s) { return !elastic(s) || fits(s); });
  }
  Type type(Id id, bool narrow) const {
    if (!narrow) return code_[id].type;
    return code_[id].type.dtype == DType::U64 ? Type{DType::U32, 1} : Type{DType::Index, 1, true};
  }

  void choose_width(Id id) {
    const Inst& n = code_[id];
    bounds_[id] = bounds_of(n, code_, bounds_, max_blocks_, vars_);
    narrow_[id] = elastic(id) && fits(id) && can_be_narrow(n);
  }
  bool can_be_narrow(const Inst& n) const {
    switch (n.code) {
      case InstCode::Const:
      case InstCode::Thread: return true;
      case InstCode::Loop:  // its variable reaches the first value that is not below the end
        return code_[n.src[0]].code == InstCode::Begin ||
               (sources_fit(n) && sum(of(n.src[1]), {n.imm, n.imm}).within(kInt32));
      case InstCode::Alu:
        if (n.op == Op::Cast) return true;
        return (n.type.dtype == DType::Index || n.op == Op::IDiv || n.op == Op::Mod) && sources_fit(n);
      default: return false;
    }
  }
  /// Whether an instruction accepts source `i` in the width that the source has.
  bool takes(Id id, size_t i) const {
    const Inst& n = code_[id];
    if (!elastic(n.src[i])) return true;
    bool narrow = false;
    switch (n.code) {
      case InstCode::Load:
      case InstCode::LoadMatrices:
      case InstCode::Store:
      case InstCode::Prefetch:  // an address
        if (i == 0) return true;
        break;
      case InstCode::CopyAsync:
        if (i < 2) return true;
        break;
      case InstCode::AccumulatorRead:
      case InstCode::Shuffle:  // a cell, a lane
        if (i == 1) return true;
        break;
      case InstCode::AccumulatorWrite:
        if (i == 2) return true;
        break;
      case InstCode::Loop:
        if (code_[n.src[i]].code == InstCode::Begin || code_[n.src[i]].code == InstCode::End) return true;
        narrow = is_narrow(id);
        break;
      case InstCode::Alu:
        if (n.op == Op::Cast) return true;
        narrow = elastic(id) ? is_narrow(id)
                             : code_[n.src[i]].type.dtype == DType::Index && sources_fit(n);  // else a comparison
        break;
      default: break;
    }
    return narrow == is_narrow(n.src[i]);
  }

  // ---- instructions
  void adapt(Id id) {
    out_[id].type = type(id, is_narrow(id));
    for (size_t i = 0; i < code_[id].src.size(); ++i)
      if (!takes(id, i)) out_[id].src[i] = converted(code_[id].src[i]);
  }
  /// The same value in the other width.
  Id converted(Id id) {
    Id& other = other_[id];
    if (other != kNone) return other;
    Inst made = code_[id].code == InstCode::Const
                    ? code_[id]
                    : Inst{.code = InstCode::Alu, .type = {}, .src = {id}, .op = Op::Cast};
    made.type = type(id, !is_narrow(id));
    other = static_cast<Id>(out_.insts.size());
    out_.insts.push_back(std::move(made));
    return other;
  }
  /// Places each cast after the definition; that of a loop variable goes first in the loop body.
  void place(size_t block) {
    std::vector<Id>& placed = out_.blocks[block];
    auto other = [&](Id id) { return other_[id]; };
    for (size_t at = 0; at < placed.size(); ++at)
      if (const Id id = placed[at]; id < static_cast<Id>(other_.size()) && other(id) != kNone) {
        if (code_[id].code == InstCode::Loop) {
          std::vector<Id>& body = out_.blocks[code_[id].block];
          body.insert(body.begin(), other(id));
        } else {
          placed.insert(placed.begin() + static_cast<std::ptrdiff_t>(at) + 1, other(id));
        }
      }
  }

  const Instructions& code_;
  const int64_t max_blocks_;
  const std::span<const Var> vars_;
  std::vector<IntegerBounds> bounds_;
  std::vector<bool> narrow_;
  std::vector<Id> other_;
  Instructions out_;
};

}  // namespace

Instructions narrow_indices(const Instructions& code, int64_t max_blocks, std::span<const Var> vars) {
  return IndexNarrower(code, max_blocks, vars).run();
}

}  // namespace sinter::codegen
