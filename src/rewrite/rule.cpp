// Rule sets: bucketed by root op, with the ops required among its sources for early rejection.
#include "rewrite/rule.h"

namespace sinter::ir {
namespace {

/// The ops of the root's operands. An operand's code starts where the previous operand's code is complete.
uint64_t child_ops(const Pattern& p) {
  uint64_t ops = 0;
  for (int i = 1; i < p.size;) {
    const PatternNode n = p.at(i);
    if (n.kind == PatternNode::Operation) ops |= uint64_t{1} << (static_cast<unsigned>(n.op) % 64);
    for (int open = 1; open > 0; ++i) open += (p.at(i).kind == PatternNode::Operation ? info(p.at(i).op).arity : 0) - 1;
  }
  return ops;
}

}  // namespace

RuleSet::RuleSet(std::span<const Rule> rules) {
  for (const Rule& r : rules) {
    rules_.push_back(&r);
    by_root_[static_cast<size_t>(r.left.at(0).op)].push_back({&r, 0, child_ops(r.left)});
  }
}

RuleSet::RuleSet(std::initializer_list<StructuralRule> functions) : structural_rules_(functions) {
  for (size_t i = 0; i < structural_rules_.size(); ++i)
    for (Op root : structural_rules_[i].roots) by_root_[static_cast<size_t>(root)].push_back({nullptr, i, 0});
}

RuleSet operator+(const RuleSet& a, const RuleSet& b) {
  RuleSet sum = a;
  sum.rules_.insert(sum.rules_.end(), b.rules_.begin(), b.rules_.end());
  sum.structural_rules_.insert(sum.structural_rules_.end(), b.structural_rules_.begin(), b.structural_rules_.end());
  for (size_t op = 0; op < sum.by_root_.size(); ++op)
    for (RuleSet::RuleRef e : b.by_root_[op]) {
      if (!e.rule) e.structural += a.structural_rules_.size();
      sum.by_root_[op].push_back(e);
    }
  return sum;
}

}  // namespace sinter::ir
