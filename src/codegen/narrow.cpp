// Bounds of every integer from those of its sources, a width for each from its bounds, and casts where widths meet.
#include "codegen/narrow.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace sinter::codegen {
namespace {

using ir::Op;

/// lo <= value <= hi, where both are known.
struct Bounds {
  int64_t lo = std::numeric_limits<int64_t>::min();
  int64_t hi = std::numeric_limits<int64_t>::max();
  bool known() const { return lo != Bounds{}.lo && hi != Bounds{}.hi; }
  bool within(Bounds b) const { return b.lo <= lo && hi <= b.hi; }
};
constexpr Bounds kInt32{std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
constexpr Bounds kUInt32{0, std::numeric_limits<uint32_t>::max()};

/// All numbers of a type, if it has at most 32 bits.
Bounds all_of(DType d) {
  if (is_bool(d)) return {0, 1};
  if (is_float(d) || size_of(d) > 4) return {};
  const int64_t count = int64_t{1} << 8 * size_of(d);
  return is_unsigned(d) ? Bounds{0, count - 1} : Bounds{-count / 2, count / 2 - 1};
}

Bounds sum(Bounds a, Bounds b) {
  Bounds r;
  const bool over = __builtin_add_overflow(a.lo, b.lo, &r.lo) || __builtin_add_overflow(a.hi, b.hi, &r.hi);
  return over || !a.known() || !b.known() ? Bounds{} : r;
}
Bounds negative(Bounds a) { return a.known() ? Bounds{-a.hi, -a.lo} : Bounds{}; }
Bounds product(Bounds a, Bounds b) {
  int64_t corners[4];
  bool over = !a.known() || !b.known();
  for (int i = 0; i < 4; ++i) over |= __builtin_mul_overflow(i & 1 ? a.hi : a.lo, i & 2 ? b.hi : b.lo, &corners[i]);
  if (over) return {};
  const auto [lo, hi] = std::minmax_element(corners, corners + 4);
  return {*lo, *hi};
}
/// Bits of neither are above the highest one that a source may have.
Bounds exclusive_or(Bounds a, Bounds b) {
  if (!a.known() || !b.known() || a.lo < 0 || b.lo < 0) return {};
  return {0, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(a.hi, b.hi)) + 1)) - 1};
}
/// Rounded down, as IDiv does; its remainder has the divisor's sign.
Bounds quotient(Bounds a, Bounds b) { return a.known() && a.lo >= 0 && b.lo > 0 ? Bounds{0, a.hi / b.lo} : Bounds{}; }
Bounds remainder(Bounds a, Bounds b) {
  if (b.lo <= 0 || !b.known()) return {};
  return {0, a.known() && a.lo >= 0 ? std::min(a.hi, b.hi - 1) : b.hi - 1};
}

class Narrower {
 public:
  Narrower(const Instructions& code, int64_t points, std::span<const Var> vars)
      : code_(code), points_(points), vars_(vars), bounds_(code.insts.size()), narrow_(code.insts.size()), other_(code.insts.size(), kNone), out_(code) {}

  Instructions run() {
    visit(0, [&](Id id) { decide(id); });
    visit(0, [&](Id id) { adapt(id); });
    for (size_t b = 0; b < code_.blocks.size(); ++b) place(b);
    return std::move(out_);
  }

 private:
  /// Each value before its uses.
  template <class F>
  void visit(int block, F f) {
    for (Id id : code_.blocks[static_cast<size_t>(block)]) {
      f(id);
      if (code_[id].block >= 0) visit(code_[id].block, f);
    }
  }

  // ---- bounds
  Bounds of(Id id) const { return bounds_[static_cast<size_t>(id)]; }

  Bounds bounds(const Inst& n) const {
    switch (n.code) {
      case Code::Const: return is_float(n.type.dtype) ? Bounds{} : Bounds{n.number.as_int(), n.number.as_int()};
      case Code::Thread: return {0, n.number.as_int() - 1};
      case Code::Var: return {vars_[static_cast<size_t>(n.imm)].min(), vars_[static_cast<size_t>(n.imm)].max()};
      case Code::Begin: return {0, 0};
      case Code::End: return {0, points_};
      case Code::Loop: return {of(n.src[0]).lo, std::max(of(n.src[0]).lo, of(n.src[1]).known() ? of(n.src[1]).hi - 1 : Bounds{}.hi)};
      case Code::Alu: return n.type.lanes > 1 || is_float(code_[n.src.back()].type.dtype) ? Bounds{} : result(n);
      default: return {};
    }
  }
  Bounds result(const Inst& n) const {
    const Bounds a = of(n.src[0]), b = n.src.size() > 1 ? of(n.src[1]) : Bounds{};
    switch (n.op) {
      case Op::Cast: return a;
      case Op::Add: return sum(a, b);
      case Op::Sub: return sum(a, negative(b));
      case Op::Neg: return negative(a);
      case Op::Mul: return product(a, b);
      case Op::Xor: return exclusive_or(a, b);
      case Op::Min: return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
      case Op::Max: return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
      case Op::IDiv: return quotient(a, b);
      case Op::Mod: return remainder(a, b);
      case Op::Where: return {std::min(b.lo, of(n.src[2]).lo), std::max(b.hi, of(n.src[2]).hi)};
      default: return {};
    }
  }

  // ---- widths
  /// Whether a value may be wanted in either width.
  bool elastic(Id id) const { return code_[id].type == Type{DType::Index, 1} || code_[id].type == Type{DType::U64, 1}; }
  bool is_narrow(Id id) const { return narrow_[static_cast<size_t>(id)]; }
  bool fits(Id id) const { return of(id).within(code_[id].type.dtype == DType::U64 ? kUInt32 : kInt32); }
  bool sources_fit(const Inst& n) const {
    return std::all_of(n.src.begin(), n.src.end(), [&](Id s) { return !elastic(s) || fits(s); });
  }
  Type type(Id id, bool narrow) const {
    if (!narrow) return code_[id].type;
    return code_[id].type.dtype == DType::U64 ? Type{DType::U32, 1} : Type{DType::Index, 1, true};
  }

  void decide(Id id) {
    const Inst& n = code_[id];
    Bounds& b = bounds_[static_cast<size_t>(id)];
    b = bounds(n);
    const Bounds all = all_of(n.type.dtype);
    if (!b.within(all)) b = all;                          // it may have wrapped
    if (n.type.dtype == DType::U64 && b.lo < 0) b = {};  // likewise
    narrow_[static_cast<size_t>(id)] = elastic(id) && fits(id) && can_be_narrow(n);
  }
  bool can_be_narrow(const Inst& n) const {
    switch (n.code) {
      case Code::Const:
      case Code::Thread: return true;
      case Code::Loop:  // its variable goes on to the first value that is not below the end
        return code_[n.src[0]].code == Code::Begin || (sources_fit(n) && sum(of(n.src[1]), {n.imm, n.imm}).within(kInt32));
      case Code::Alu:
        if (n.op == Op::Cast) return true;
        return (n.type.dtype == DType::Index || n.op == Op::IDiv || n.op == Op::Mod) && sources_fit(n);
      default: return false;
    }
  }
  /// Whether an instruction takes source `i` in the width in which that is made.
  bool takes(Id id, size_t i) const {
    const Inst& n = code_[id];
    if (!elastic(n.src[i])) return true;
    bool narrow = false;
    switch (n.code) {
      case Code::Load:
      case Code::Store:
      case Code::Prefetch:  // an address
        if (i == 0) return true;
        break;
      case Code::Result:
      case Code::Shuffle:  // a cell, a lane
        if (i == 1) return true;
        break;
      case Code::Assign:
        if (i == 2) return true;
        break;
      case Code::Loop:
        if (code_[n.src[i]].code == Code::Begin || code_[n.src[i]].code == Code::End) return true;
        narrow = is_narrow(id);
        break;
      case Code::Alu:
        if (n.op == Op::Cast) return true;
        narrow = elastic(id) ? is_narrow(id) : code_[n.src[i]].type.dtype == DType::Index && sources_fit(n);  // else a comparison
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
    Id& other = other_[static_cast<size_t>(id)];
    if (other != kNone) return other;
    Inst made = code_[id].code == Code::Const ? code_[id] : Inst{Code::Alu, {}, {id}, Op::Cast};
    made.type = type(id, !is_narrow(id));
    other = static_cast<Id>(out_.insts.size());
    out_.insts.push_back(std::move(made));
    return other;
  }
  /// A conversion stands behind what it converts: that of a loop's variable at the beginning of the loop.
  void place(size_t block) {
    std::vector<Id>& placed = out_.blocks[block];
    auto other = [&](Id id) { return other_[static_cast<size_t>(id)]; };
    for (size_t at = 0; at < placed.size(); ++at)
      if (const Id id = placed[at]; id < static_cast<Id>(other_.size()) && other(id) != kNone) {
        if (code_[id].code == Code::Loop) {
          std::vector<Id>& body = out_.blocks[static_cast<size_t>(code_[id].block)];
          body.insert(body.begin(), other(id));
        } else {
          placed.insert(placed.begin() + static_cast<std::ptrdiff_t>(at) + 1, other(id));
        }
      }
  }

  const Instructions& code_;
  const int64_t points_;
  const std::span<const Var> vars_;
  std::vector<Bounds> bounds_;
  std::vector<bool> narrow_;
  std::vector<Id> other_;
  Instructions out_;
};

}  // namespace

Instructions narrow(const Instructions& code, int64_t points, std::span<const Var> vars) { return Narrower(code, points, vars).run(); }

}  // namespace sinter::codegen
