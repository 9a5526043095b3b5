// Interval arithmetic on the ops of indices.
#include "codegen/ssa/integer_bounds.h"

#include <algorithm>
#include <bit>

namespace sinter::codegen {

Bounds sum(Bounds a, Bounds b) {
  Bounds r;
  const bool over = __builtin_add_overflow(a.lo, b.lo, &r.lo) || __builtin_add_overflow(a.hi, b.hi, &r.hi);
  return over || !a.known() || !b.known() ? Bounds{} : r;
}

namespace {

using ir::Op;

/// All numbers of a type, if it has at most 32 bits.
Bounds all_of(DType d) {
  if (is_bool(d)) return {0, 1};
  if (is_float(d) || size_of(d) > 4) return {};
  const int64_t count = int64_t{1} << 8 * size_of(d);
  return is_unsigned(d) ? Bounds{0, count - 1} : Bounds{-count / 2, count / 2 - 1};
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

Bounds result(const Inst& n, std::span<const Bounds> known) {
  const auto of = [&](size_t i) { return known[static_cast<size_t>(n.src[i])]; };
  const Bounds a = of(0), b = n.src.size() > 1 ? of(1) : Bounds{};
  // One bound of an unsigned number says nothing: read as signed it may lie on the other side.
  if ((n.op == Op::Min || n.op == Op::Max) && n.type.dtype == DType::U64 && !(a.known() && b.known())) return {};
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
    case Op::Where: return {std::min(b.lo, of(2).lo), std::max(b.hi, of(2).hi)};
    default: return {};
  }
}
/// The last of begin, begin + step, ... below end.
Bounds turns(Bounds begin, Bounds end, int64_t step) {
  const Bounds any{begin.lo, Bounds{}.hi};
  int64_t length = 0;
  if (!end.known() || __builtin_sub_overflow(end.hi - 1, begin.lo, &length)) return any;
  return {begin.lo, length < 0 ? begin.lo : begin.lo == begin.hi ? begin.lo + length / step * step : end.hi - 1};
}

}  // namespace

Bounds bounds_of(const Inst& n, const Instructions& code, std::span<const Bounds> known, int64_t points,
                 std::span<const Var> vars) {
  const auto of = [&](size_t i) { return known[static_cast<size_t>(n.src[i])]; };
  const Bounds all = all_of(n.type.dtype);
  Bounds b;
  switch (n.code) {
    case Code::Const: b = is_float(n.type.dtype) ? Bounds{} : Bounds{n.number.as_int(), n.number.as_int()}; break;
    case Code::Thread: b = {0, n.number.as_int() - 1}; break;
    case Code::Var:
      if (const auto i = static_cast<size_t>(n.imm); i < vars.size()) b = {vars[i].min(), vars[i].max()};
      break;
    case Code::Iota: b = {0, n.type.lanes - 1}; break;
    case Code::Splat: b = of(0); break;
    case Code::Begin: b = {0, points}; break;
    case Code::End: b = {0, points}; break;
    case Code::Loop: b = turns(of(0), of(1), code[n.src[0]].code == Code::Begin ? 1 : n.imm); break;
    case Code::Alu:
      if (!is_float(code[n.src.back()].type.dtype)) b = result(n, known);
      break;
    default: break;
  }
  if (!b.within(all)) b = all;                         // it may have wrapped
  if (n.type.dtype == DType::U64 && b.lo < 0) b = {};  // likewise
  return b;
}

}  // namespace sinter::codegen
