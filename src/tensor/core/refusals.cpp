// The nodes that refuse, and how an index that GATHER reports is read back.
#include "tensor/core/refusals.h"

#include <fmt/core.h>

#include <limits>

#include "tensor/core/axes.h"

namespace sinter::tensor {
namespace {

using ir::Op;
using ir::UOp;

/// Indices that stand for faults of weights, farther below 0 than any table is long: the first, and those from
/// kTooFew on, which say how many weights of a row are positive.
constexpr int64_t kFirst = -(int64_t{1} << 62);
constexpr int64_t kNotFinite = kFirst, kNegative = kFirst + 1, kTooFew = kFirst + 2;
constexpr int64_t kMaxClasses = int64_t{1} << 56;

UOp constant_below(UOp n) {
  n = ir::below_movements(n);
  return n->op == Op::Const ? n : UOp();
}

UOp number(UOp x, int64_t value) { return ir::like(x, ir::Scalar::of(x->dtype, value)); }

}  // namespace

UOp class_numbers(UOp index, const Dim& classes) {
  index = ir::cast(index, DType::I64);
  const UOp beyond = ir::broadcast_to(size_node(classes, DType::I64, index->device), index->shape);
  return ir::where(ir::lt(index, ir::like(index, 0.0)), beyond, index);
}

UOp given_classes(UOp n) {
  if (n->op != Op::Where || n->dtype != DType::I64 || n->src[0]->op != Op::Lt) return {};
  const UOp condition = n->src[0], bound = constant_below(condition->src[1]);
  return condition->src[0] == n->src[2] && bound && bound->scalar().as_int() == 0 ? n->src[2] : UOp();
}

std::optional<int64_t> ignored_class(UOp n) {
  if (n->op != Op::Where || n->src[0]->op != Op::Ne || !given_classes(n->src[1])) return {};
  for (UOp side : n->src[0]->src)
    if (const UOp number = constant_below(side)) return number->scalar().as_int();
  return {};
}

UOp accepted_weights(UOp weights, int64_t positive) {
  const auto last = static_cast<int64_t>(weights->rank()) - 1;
  const UOp zero = ir::like(weights, 0.0);
  const UOp finite = ir::lt(ir::alu(Op::Abs, {weights}), ir::like(weights, std::numeric_limits<double>::infinity()));
  const UOp none = ir::cast(ir::like(weights, 0.0), DType::I64);
  const UOp faults = ir::where(finite, ir::where(ir::lt(weights, zero), number(none, 1), none), number(none, 2));
  const UOp fault = insert_axis(ir::reduce(ir::Combine::Max, faults, {last}), last);
  const UOp above = insert_axis(ir::sum(ir::cast(ir::lt(zero, weights), DType::I64), {last}), last);
  const UOp needed = number(above, positive), ok = ir::like(above, 0.0);
  UOp index = ir::where(ir::lt(above, needed), above + number(above, kTooFew), ok);
  index = ir::where(ir::eq(fault, number(fault, 1)), number(fault, kNegative), index);
  index = ir::where(ir::eq(fault, number(fault, 2)), number(fault, kNotFinite), index);
  return ir::gather(number(index, 1), index, last);
}

bool picks_weights(UOp index) {
  if (index->op != Op::Where || index->dtype != DType::I64) return false;
  const UOp number = constant_below(index->src[1]);
  return number && number->scalar().as_int() == kNotFinite;
}

std::string weights_fault(int64_t index) {
  if (index < kFirst || index >= kTooFew + kMaxClasses) return "";
  if (index == kNotFinite) return "hold a NaN or an infinity; give finite numbers from 0 on";
  if (index == kNegative) return "hold a negative number; give numbers from 0 on";
  if (index == kTooFew) return "are all 0; give one above 0";
  return fmt::format("have {} above 0, and more are drawn without replacement; draw fewer, or with replacement",
                     index - kTooFew);
}

}  // namespace sinter::tensor
