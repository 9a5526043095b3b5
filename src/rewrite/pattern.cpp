// Matching runs the prefix code on a small stack. Instantiation runs it backwards.
#include "rewrite/pattern.h"

#include <vector>

#include "ir/build.h"
#include "ir/scalar_eval.h"
#include "ir/splat.h"

namespace sinter::ir {
namespace {

Scalar literal(DType dtype, double number) {
  return is_float(dtype) ? Scalar::of(dtype, number) : Scalar::of(dtype, static_cast<int64_t>(number));
}

/// `swapped`: one bit per commutative op of the pattern; set if its operands are tried in reverse order.
bool match_oriented(const Pattern& pattern, UOp node, unsigned swapped, Match& m) {
  std::array<UOp, Pattern::kCapacity> stack;
  size_t height = 0;
  stack[height++] = node;
  m.slot = {};
  m.root = node;
  for (int i = 0; i < pattern.size; ++i) {
    const PatternNode p = pattern.at(i);
    UOp u = stack[--height];
    m.last = u;
    Scalar value;
    switch (p.kind) {
      case PatternNode::Constant:
        if (!splat_of(u, value)) return false;
        [[fallthrough]];
      case PatternNode::Any:
        if (m.slot[p.slot] && !(m.slot[p.slot] == u)) return false;
        m.slot[p.slot] = u;
        break;
      case PatternNode::Literal:
        if (!splat_of(u, value) || !(value == literal(u->dtype, p.number))) return false;
        break;
      case PatternNode::Operation: {
        if (u->op != p.op || u->src.empty()) return false;
        bool swap = false;
        if (has(p.op, kCommutative)) swap = (swapped & 1u) && commutes(p.op, u->dtype), swapped >>= 1;
        if (swap) {
          stack[height++] = u->src[0];
          stack[height++] = u->src[1];
        } else {
          for (size_t s = u->src.size(); s-- > 0;) stack[height++] = u->src[s];
        }
        break;
      }
    }
  }
  return true;
}

}  // namespace

bool splat_of(UOp u, Scalar& value) {
  const UOp constant = splat_const(u);
  if (constant) value = constant->scalar();
  return static_cast<bool>(constant);
}

Scalar Match::number(const Pattern& constant) const {
  Scalar value;
  splat_of((*this)[constant], value);
  return value;
}

bool match(const Pattern& pattern, UOp node, Match& result) {
  unsigned orders = 1;
  for (int i = 0; i < pattern.size; ++i)
    if (pattern.at(i).kind == PatternNode::Operation && has(pattern.at(i).op, kCommutative)) orders *= 2;
  for (unsigned swapped = 0; swapped < orders; ++swapped)
    if (match_oriented(pattern, node, swapped, result)) return true;
  return false;
}

UOp folded_alu(Op op, const std::vector<UOp>& src) {
  std::array<Scalar, 3> args;
  bool all = src.size() <= args.size();
  for (size_t i = 0; all && i < src.size(); ++i) all = splat_of(src[i], args[i]);
  UOp last = src.back();
  if (!all) return alu(op, src);
  const DType dtype = info(op).result == ResultType::Bool ? DType::Bool : last->dtype;
  const Scalar value = evaluate(op, dtype, last->dtype, {args.data(), src.size()});
  return broadcast_to(constant(*last->graph, value, dtype, last->device), last->shape);
}

UOp instantiate(const Pattern& pattern, const Match& m) {
  struct PatternOperand {
    UOp node;
    double number;
  };  // a literal gets its type from the other operands
  std::vector<PatternOperand> stack;
  auto typed = [](PatternOperand o, UOp neighbor, DType dtype) {
    if (o.node) return o.node;
    return broadcast_to(constant(*neighbor->graph, literal(dtype, o.number), dtype, neighbor->device), neighbor->shape);
  };
  for (int i = pattern.size; i-- > 0;) {
    const PatternNode p = pattern.at(i);
    if (p.kind == PatternNode::Literal) {
      stack.push_back({{}, p.number});
    } else if (p.kind != PatternNode::Operation) {
      stack.push_back({m.slot[p.slot], 0});
    } else {
      const size_t arity = static_cast<size_t>(info(p.op).arity);
      std::vector<PatternOperand> operands;
      for (size_t k = 0; k < arity; ++k) {
        operands.push_back(stack.back());
        stack.pop_back();
      }
      UOp neighbor = m.root;
      for (size_t k = p.op == Op::Where ? 1 : 0; k < arity; ++k)
        if (operands[k].node) neighbor = operands[k].node;
      std::vector<UOp> src;
      for (const PatternOperand& o : operands) src.push_back(typed(o, neighbor, neighbor->dtype));
      stack.push_back({folded_alu(p.op, src), 0});
    }
  }
  return typed(stack.back(), m.root, m.root->dtype);
}

}  // namespace sinter::ir
