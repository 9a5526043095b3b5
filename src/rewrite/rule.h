// Rules as data, structural rewrites as functions, and sets of both.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <source_location>
#include <span>
#include <vector>

#include "rewrite/index_math.h"
#include "rewrite/pattern.h"

namespace sinter::ir {

/// The types for which a rule holds.
enum class Domain : uint8_t {
  Index = 1,    ///< no overflow
  Integer = 2,  ///< wraps
  Float = 4,    ///< exact for NaN, +-0 and +-inf
  Bool = 8,
  Number = Index | Integer | Float,
  Any = Number | Bool,
};
constexpr Domain operator|(Domain a, Domain b) {
  return static_cast<Domain>(static_cast<int>(a) | static_cast<int>(b));
}
constexpr bool contains(Domain domain, DType dtype) {
  const Domain d = dtype == DType::Index  ? Domain::Index
                   : dtype == DType::Bool ? Domain::Bool
                   : is_float(dtype)      ? Domain::Float
                                          : Domain::Integer;
  return static_cast<int>(domain) & static_cast<int>(d);
}

using Guard = bool (*)(const Match&);

/// left -> right, if the type of left's last leaf is in the domain and the guard holds. These do not compile: a right
/// side with a variable that left does not bind; a left side that is not an op; a left side with its constant on the
/// left of a commutative op (make() puts it on the right).
struct Rule {
  const char* name;
  Pattern left, right;
  Domain domain;
  Guard guard;
  std::source_location where;

  consteval Rule(const char* rule, Pattern from, Pattern to, Domain types, Guard condition = nullptr,
                 std::source_location place = std::source_location::current())
      : name(rule), left(from), right(to), domain(types), guard(condition), where(place) {
    if (left.size < 2 || left.at(0).kind != PatternNode::Operation) throw "the left side of a rule is an op";
    for (int i = 0; i < right.size; ++i) {
      const PatternNode r = right.at(i);
      if (r.kind != PatternNode::Any && r.kind != PatternNode::Constant) continue;
      bool bound = false;
      for (int j = 0; j < left.size; ++j) bound |= left.at(j).kind == r.kind && left.at(j).slot == r.slot;
      if (!bound) throw "the right side of a rule uses an unbound variable";
    }
    for (int i = 0; i + 2 < left.size; ++i) {
      const PatternNode l = left.at(i), first = left.at(i + 1), second = left.at(i + 2);
      const bool ordered =
          l.op == Op::Add || l.op == Op::Mul || l.op == Op::And || l.op == Op::Or || l.op == Op::Xor || l.op == Op::Eq;
      const bool constant = first.kind == PatternNode::Constant || first.kind == PatternNode::Literal;
      const bool variable = second.kind == PatternNode::Any || second.kind == PatternNode::Operation;
      if (l.kind == PatternNode::Operation && ordered && constant && variable)
        throw "make() puts constants on the right";
    }
  }
};

/// What a structural rewrite may use. One per run of the driver.
struct RewriteContext {
  explicit RewriteContext(Graph& g) : graph(g), index(g) {}
  Graph& graph;
  IndexMath index;
};

/// A rewrite that is not a local pattern. Returns the replacement; the node itself or null means no change.
struct StructuralRule {
  const char* name;
  std::vector<Op> roots;
  std::function<UOp(RewriteContext&, UOp)> apply;
  std::source_location where = std::source_location::current();
};

/// Rules and structural rewrites by root op, in insertion order.
class RuleSet {
 public:
  RuleSet() = default;
  /// The rules must outlive the set; they are constant tables.
  explicit RuleSet(std::span<const Rule> rules);
  RuleSet(std::initializer_list<StructuralRule> functions);

  struct RuleRef {
    const Rule* rule = nullptr;
    size_t structural = 0;  ///< index, if `rule` is null
    uint64_t children = 0;  ///< ops required among the sources, as bits op mod 64
  };
  const std::vector<RuleRef>& at(Op root) const { return by_root_[static_cast<size_t>(root)]; }
  const StructuralRule& structural(const RuleRef& e) const { return structural_rules_[e.structural]; }
  const std::vector<const Rule*>& rules() const { return rules_; }
  const std::vector<StructuralRule>& structural_rules() const { return structural_rules_; }

  friend RuleSet operator+(const RuleSet& a, const RuleSet& b);

 private:
  std::vector<const Rule*> rules_;
  std::vector<StructuralRule> structural_rules_;
  std::array<std::vector<RuleRef>, 128> by_root_;
};

}  // namespace sinter::ir
