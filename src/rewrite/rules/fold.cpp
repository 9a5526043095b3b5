// Ops on constants are folded by the one evaluator. A cast of a cast is a single cast if the first loses nothing.
#include <array>

#include "ir/build.h"
#include "ir/scalar_eval.h"
#include "ir/short_float.h"
#include "rewrite/rules/rules.h"

namespace sinter::ir {
namespace {

std::vector<Op> all_alu() {
  std::vector<Op> ops;
  for (int i = 0; i < kOpCount; ++i)
    if (is_alu(static_cast<Op>(i))) ops.push_back(static_cast<Op>(i));
  return ops;
}

UOp splat(UOp beside, Scalar value, DType dtype) {
  return broadcast_to(constant(*beside->graph, value, dtype, beside->device), beside->shape);
}

bool storage_only(DType d) { return is_float(d) && size_of(d) == 1; }

UOp fold(RewriteContext&, UOp x) {
  std::array<Scalar, 3> args;
  if (x->op == Op::Check || x->src.size() > args.size()) return {};
  for (size_t i = 0; i < x->src.size(); ++i)
    if (!splat_of(x->src[i], args[i])) return {};
  const DType from = x->src.back()->dtype;
  if (x->op == Op::Bitcast && (storage_only(from) || storage_only(x->dtype))) return {};
  return splat(x, evaluate(x->op, x->dtype, from, {args.data(), x->src.size()}), x->dtype);
}

/// A conjunction with false, if it has checks.
UOp close_checks(RewriteContext&, UOp x) {
  Scalar known;
  if (x->dtype != DType::Bool || !splat_of(x->src[1], known) || known.as_int()) return {};
  UOp closed = contradiction(x);
  return closed->op == Op::Const ? UOp() : closed;
}

/// Drops a check that holds.
UOp drop_check(RewriteContext&, UOp x) {
  Scalar ok;
  return splat_of(x->src[1], ok) && ok.as_int() ? x->src[0] : UOp();
}

int digits(DType d) {
  switch (d) {
    case DType::F64: return 53;
    case DType::F32: return 24;
    case DType::F16: return 11;
    case DType::BF16: return 8;
    default: return 0;
  }
}
int bits(DType d) { return d == DType::Bool ? 1 : 8 * static_cast<int>(size_of(d)); }

/// Whether every value of `from` is a value of `to`.
bool embeds(DType from, DType to) {
  if (from == to || from == DType::Bool) return true;
  if (to == DType::Bool || storage_only(from) || storage_only(to)) return false;
  if (is_float(from)) return is_float(to) && size_of(from) < size_of(to);
  if (is_float(to)) return bits(from) - (is_unsigned(from) ? 0 : 1) <= digits(to);
  if (is_unsigned(from) == is_unsigned(to)) return bits(from) <= bits(to);
  return is_unsigned(from) && bits(from) < bits(to);
}

UOp cast_of_cast(RewriteContext&, UOp x) {
  UOp middle = x->src[0];
  if (x->dtype == middle->dtype) return middle;
  if (middle->op != Op::Cast) return {};
  UOp source = middle->src[0];
  const DType a = source->dtype, b = middle->dtype, c = x->dtype;
  // Integers wrap and floats saturate: an integer may pass through a float only if it fits the result.
  const bool exact = embeds(a, b) && (!is_float(b) || is_float(a) || is_float(c) || c == DType::Bool || embeds(a, c));
  // An integer reaches a 16-bit float through float32, which may round it differently than float64 does.
  if (is_short_float(c) && !is_float(a) && b == DType::F64 && !embeds(a, DType::F32)) return {};
  const bool wraps = is_integer(a) && is_integer(b) && is_integer(c) && bits(c) <= bits(b);
  return exact || wraps ? cast(source, c) : UOp();
}

UOp bitcast_of_bitcast(RewriteContext&, UOp x) {
  if (x->dtype == x->src[0]->dtype) return x->src[0];
  return x->src[0]->op == Op::Bitcast ? bitcast(x->src[0]->src[0], x->dtype) : UOp();
}

/// cast(where(c, 1, 0)) is a select between the converted constants.
UOp cast_of_select(RewriteContext&, UOp x) {
  UOp s = x->src[0];
  std::array<Scalar, 2> value;
  if (s->op != Op::Where || !splat_of(s->src[1], value[0]) || !splat_of(s->src[2], value[1])) return {};
  for (Scalar& v : value) v = evaluate(Op::Cast, x->dtype, s->dtype, std::span<const Scalar>(&v, 1));
  return where(s->src[0], splat(x, value[0], x->dtype), splat(x, value[1], x->dtype));
}

}  // namespace

const RuleSet& fold_rules() {
  static const RuleSet& rules = *new RuleSet{
      // never destroyed (SEMANTICS V7)
      {"fold", all_alu(), fold},
      {"check-holds", {Op::Check}, drop_check},
      {"and-false-of-checks", {Op::And}, close_checks},
      {"cast-of-cast", {Op::Cast}, cast_of_cast},
      {"cast-of-select", {Op::Cast}, cast_of_select},
      {"bitcast-of-bitcast", {Op::Bitcast}, bitcast_of_bitcast},
  };
  return rules;
}

const RuleSet& simplify_rules() {
  static const RuleSet& rules =
      *new RuleSet(fold_rules() + boolean_rules() + algebra_rules() + float_rules() + index_rules());
  return rules;
}

}  // namespace sinter::ir
