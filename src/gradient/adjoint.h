// How each op is differentiated: one rule per op, in one table. A rule builds ordinary nodes, so gradients can be
// differentiated again.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

// Not sinter::gradient, which is the public function.
namespace sinter::autodiff {

/// One application of a rule: a node, the gradient of its value, and the gradients of its sources.
class Adjoint {
 public:
  Adjoint(ir::UOp node, ir::UOp gradient, std::vector<bool> wanted)
      : n(node), g(gradient), wanted_(std::move(wanted)), source_gradients_(node->src.size()) {}

  const ir::UOp n;  ///< the node; rules may use its forward value
  const ir::UOp g;  ///< gradient of n: same shape and dtype
  ir::UOp src(size_t i) const { return n->src[i]; }
  /// Whether source i requires grad and leads to a wanted gradient. For other sources a rule builds nothing.
  bool wants(size_t i) const { return wanted_[i]; }
  void give(size_t i, ir::UOp gradient) {
    if (wanted_[i]) source_gradients_[i] = gradient;
  }
  /// Null if the derivative is zero everywhere.
  ir::UOp source_gradient(size_t i) const { return source_gradients_[i]; }

 private:
  std::vector<bool> wanted_;
  std::vector<ir::UOp> source_gradients_;
};

using GradientRule = void (*)(Adjoint& a);
struct GradientRuleEntry {
  ir::Op op;
  GradientRule rule;
};

/// The rule of an op. Null for ops with the trait kNoGrad.
GradientRule rule_of(ir::Op op);

// The rule table by family.
std::span<const GradientRuleEntry> elementwise_rules();
std::span<const GradientRuleEntry> movement_rules();
std::span<const GradientRuleEntry> reduce_rules();
std::span<const GradientRuleEntry> pick_rules();
std::span<const GradientRuleEntry> lapack_rules();
std::span<const GradientRuleEntry> state_rules();

}  // namespace sinter::autodiff
