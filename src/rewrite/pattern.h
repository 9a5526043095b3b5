// Patterns of rewrite rules as constant data: prefix code, built by operators at compile time.
//   constexpr Pattern x = any(0), c0 = cst(4);   (x + c0) * 2
#pragma once

#include <array>
#include <cstdint>

#include "ir/graph.h"

namespace sinter::ir {

struct PatternNode {
  enum Kind : uint8_t { Any, Constant, Literal, Operation };
  Kind kind = Any;
  Op op = Op::Const;
  uint8_t slot = 0;   ///< of Any and Constant
  double number = 0;  ///< of a Literal: exactly this value in the matched type (-0.0 is not 0)
};

/// A tree in prefix order. Any matches every node. Constant matches a constant, also a broadcast one. A slot that
/// occurs repeatedly matches the same node everywhere.
struct Pattern {
  static constexpr int kCapacity = 16, kSlots = 8;
  std::array<PatternNode, kCapacity> code{};
  int size = 0;

  constexpr Pattern() = default;
  constexpr Pattern(int number) : Pattern(static_cast<double>(number)) {}                  // NOLINT
  constexpr Pattern(double number) { add({PatternNode::Literal, Op::Const, 0, number}); }  // NOLINT
  constexpr void add(PatternNode n) { code[size++] = n; }  // overflow: not a constant expression
  constexpr void add(const Pattern& p) {
    for (int i = 0; i < p.size; ++i) add(p.code[i]);
  }
  constexpr PatternNode at(int i) const { return code[i]; }
};

namespace pattern {

constexpr Pattern any(uint8_t slot) {
  Pattern p;
  p.add({PatternNode::Any, Op::Const, slot, 0});
  return p;
}
constexpr Pattern cst(uint8_t slot) {
  Pattern p;
  p.add({PatternNode::Constant, Op::Const, slot, 0});
  return p;
}
template <class... P>
constexpr Pattern op(Op o, const P&... operands) {
  Pattern p;
  p.add({PatternNode::Operation, o, 0, 0});
  (p.add(Pattern(operands)), ...);
  return p;
}

constexpr Pattern operator+(const Pattern& a, const Pattern& b) { return op(Op::Add, a, b); }
constexpr Pattern operator-(const Pattern& a, const Pattern& b) { return op(Op::Sub, a, b); }
constexpr Pattern operator*(const Pattern& a, const Pattern& b) { return op(Op::Mul, a, b); }
constexpr Pattern operator/(const Pattern& a, const Pattern& b) { return op(Op::Div, a, b); }
constexpr Pattern operator%(const Pattern& a, const Pattern& b) { return op(Op::Mod, a, b); }
constexpr Pattern operator&(const Pattern& a, const Pattern& b) { return op(Op::And, a, b); }
constexpr Pattern operator|(const Pattern& a, const Pattern& b) { return op(Op::Or, a, b); }
constexpr Pattern operator^(const Pattern& a, const Pattern& b) { return op(Op::Xor, a, b); }
constexpr Pattern operator<(const Pattern& a, const Pattern& b) { return op(Op::Lt, a, b); }
constexpr Pattern operator<=(const Pattern& a, const Pattern& b) { return op(Op::Le, a, b); }
constexpr Pattern operator==(const Pattern& a, const Pattern& b) { return op(Op::Eq, a, b); }
constexpr Pattern operator!=(const Pattern& a, const Pattern& b) { return op(Op::Ne, a, b); }
constexpr Pattern operator-(const Pattern& a) { return op(Op::Neg, a); }
constexpr Pattern operator!(const Pattern& a) { return op(Op::Not, a); }
constexpr Pattern idiv(const Pattern& a, const Pattern& b) { return op(Op::IDiv, a, b); }
constexpr Pattern max(const Pattern& a, const Pattern& b) { return op(Op::Max, a, b); }
constexpr Pattern min(const Pattern& a, const Pattern& b) { return op(Op::Min, a, b); }
constexpr Pattern abs(const Pattern& a) { return op(Op::Abs, a); }
constexpr Pattern where(const Pattern& c, const Pattern& a, const Pattern& b) { return op(Op::Where, c, a, b); }

}  // namespace pattern

/// The nodes bound to the slots of a pattern.
struct Match {
  std::array<UOp, Pattern::kSlots> slot;
  UOp root;  ///< the node that was matched
  UOp last;  ///< node of the pattern's last leaf; its type decides the domain

  UOp operator[](const Pattern& variable) const { return slot[variable.code[0].slot]; }
  /// The value bound to a Constant.
  Scalar number(const Pattern& constant) const;
};

/// Tries both orders of commutative operands. On failure `result` is unspecified.
bool match(const Pattern& pattern, UOp node, Match& result);
/// Builds the pattern with its slots filled in. Literals take type and shape of the other operands. An op on constants
/// only is folded.
UOp instantiate(const Pattern& pattern, const Match& match);

/// The constant that all elements of a node equal, looking through Expand and Reshape. False if there is none.
bool splat_of(UOp node, Scalar& value);
/// alu(), folded if all sources are constants.
UOp folded_alu(Op op, const std::vector<UOp>& src);

}  // namespace sinter::ir
