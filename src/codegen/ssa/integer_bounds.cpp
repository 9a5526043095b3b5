// Interval arithmetic for index ops.
#include "codegen/ssa/integer_bounds.h"

#include <algorithm>
#include <bit>

namespace sinter::codegen {

IntegerBounds sum(IntegerBounds a, IntegerBounds b) {
  IntegerBounds r;
  const bool over = __builtin_add_overflow(a.lo, b.lo, &r.lo) || __builtin_add_overflow(a.hi, b.hi, &r.hi);
  return over || !a.known() || !b.known() ? IntegerBounds{} : r;
}

namespace {

/// The full range of an integer type of at most 32 bits.
IntegerBounds all_of(DType d) {
  if (is_bool(d)) return {0, 1};
  if (is_float(d) || size_of(d) > 4) return {};
  const int64_t count = int64_t{1} << 8 * size_of(d);
  return is_unsigned(d) ? IntegerBounds{0, count - 1} : IntegerBounds{-count / 2, count / 2 - 1};
}

IntegerBounds negative(IntegerBounds a) { return a.known() ? IntegerBounds{-a.hi, -a.lo} : IntegerBounds{}; }
IntegerBounds product(IntegerBounds a, IntegerBounds b) {
  int64_t corners[4];
  bool over = !a.known() || !b.known();
  for (int i = 0; i < 4; ++i) over |= __builtin_mul_overflow(i & 1 ? a.hi : a.lo, i & 2 ? b.hi : b.lo, &corners[i]);
  if (over) return {};
  const auto [lo, hi] = std::minmax_element(corners, corners + 4);
  return {*lo, *hi};
}
/// The result has no bit above the highest bit that a source may have.
IntegerBounds exclusive_or(IntegerBounds a, IntegerBounds b) {
  if (!a.known() || !b.known() || a.lo < 0 || b.lo < 0) return {};
  return {0, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(a.hi, b.hi)) + 1)) - 1};
}
/// Floor division, as IDiv. The remainder has the divisor's sign.
IntegerBounds quotient(IntegerBounds a, IntegerBounds b) {
  return a.known() && a.lo >= 0 && b.lo > 0 ? IntegerBounds{0, a.hi / b.lo} : IntegerBounds{};
}
IntegerBounds remainder(IntegerBounds a, IntegerBounds b) {
  if (b.lo <= 0 || !b.known()) return {};
  return {0, a.known() && a.lo >= 0 ? std::min(a.hi, b.hi - 1) : b.hi - 1};
}

IntegerBounds result(const Inst& n, std::span<const IntegerBounds> known) {
  const auto of = [&](size_t i) { return known[n.src[i]]; };
  const IntegerBounds a = of(0), b = n.src.size() > 1 ? of(1) : IntegerBounds{};
  // A single known bound of a U64 is useless here: the value, read as signed, may be negative.
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
/// From begin to the last of begin, begin + step, ... below end.
IntegerBounds loop_variable_bounds(IntegerBounds begin, IntegerBounds end, int64_t step) {
  const IntegerBounds any{begin.lo, IntegerBounds{}.hi};
  int64_t length = 0;
  if (!end.known() || __builtin_sub_overflow(end.hi - 1, begin.lo, &length)) return any;
  return {begin.lo, length < 0 ? begin.lo : begin.lo == begin.hi ? begin.lo + length / step * step : end.hi - 1};
}

}  // namespace

IntegerBounds bounds_of(const Inst& n, const Instructions& code, std::span<const IntegerBounds> known,
                        int64_t max_tasks, std::span<const Var> vars) {
  const auto of = [&](size_t i) { return known[n.src[i]]; };
  const IntegerBounds all = all_of(n.type.dtype);
  IntegerBounds b;
  switch (n.code) {
    case InstCode::Const:
      b = is_float(n.type.dtype) ? IntegerBounds{} : IntegerBounds{n.number.as_int(), n.number.as_int()};
      break;
    case InstCode::Thread: b = {0, n.number.as_int() - 1}; break;
    case InstCode::Var:
      if (const auto i = static_cast<size_t>(n.imm); i < vars.size()) b = {vars[i].min(), vars[i].max()};
      break;
    case InstCode::Iota: b = {0, n.type.lanes - 1}; break;
    case InstCode::Splat: b = of(0); break;
    case InstCode::Begin:
    case InstCode::End: b = {0, max_tasks}; break;
    case InstCode::Loop:
      b = loop_variable_bounds(of(0), of(1), code[n.src[0]].code == InstCode::Begin ? 1 : n.imm);
      break;
    case InstCode::Alu:
      if (!is_float(code[n.src.back()].type.dtype)) b = result(n, known);
      break;
    default: break;
  }
  if (!b.within(all)) b = all;                         // may wrap
  if (n.type.dtype == DType::U64 && b.lo < 0) b = {};  // may wrap
  return b;
}

}  // namespace sinter::codegen
