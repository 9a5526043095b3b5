// The reverse walk: users before sources, every node once, with explicit stacks.
#include "gradient/reverse.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "gradient/adjoint.h"
#include "gradient/batch_products.h"
#include "ir/build.h"
#include "ir/contains.h"
#include "ir/dump.h"
#include "ir/tensor_graph.h"
#include "ir/user_rule.h"
#include "ir/walk.h"
#include "sinter/error.h"

namespace sinter::autodiff {
namespace {

using ir::UOp;

bool propagates_gradient(UOp n) { return n->state.requires_grad && !n->state.leaf; }

/// Sums the gradients that arrived at a value, and replaces them by the sum.
UOp add_up(std::vector<UOp>& parts) {
  if (parts.size() > 1) {
    const std::vector<UOp> sums = batch_products(parts);
    parts.assign(1, sums[0]);
    for (size_t i = 1; i < sums.size(); ++i) parts[0] = parts[0] + sums[i];
  }
  return parts[0];
}

/// The nodes of a walk with the places of their sources, which stay known while functions of the program, called by
/// rules, walk the graph themselves.
class ReverseWalk {
 public:
  explicit ReverseWalk(UOp y) : order_(gradient_nodes(y)), mark_(y->mark) {
    for (size_t i = 0; i < order_.size(); ++i) order_[i]->position = static_cast<uint32_t>(i);
    for (UOp n : order_) {
      first_.push_back(places_.size());
      if (propagates_gradient(n))
        for (UOp s : n->src) places_.push_back(carries(s) ? static_cast<int32_t>(s->position) : -1);
    }
    first_.push_back(places_.size());
  }

  const std::vector<UOp>& order() const { return order_; }
  size_t size() const { return order_.size(); }
  /// Before anything else walks the graph.
  bool carries(UOp n) const { return n->mark == mark_ && n->state.requires_grad; }
  /// Per source of a node, its place; -1 for one that carries no gradient. Empty for a leaf.
  std::span<const int32_t> sources(size_t i) const { return {places_.data() + first_[i], first_[i + 1] - first_[i]}; }
  bool has_user_rules() const {
    return ir::any_user_rules() &&
           std::ranges::any_of(order_, [](UOp n) { return n->op == ir::Op::Custom || !ir::hooks_of(n).empty(); });
  }

 private:
  const std::vector<UOp> order_;
  const uint64_t mark_;
  std::vector<size_t> first_;
  std::vector<int32_t> places_;
};

/// The values of one function with a rule of the program, as far as a walk meets them. The rule is called at the last
/// of them: all of its values' users come before, all of its arguments behind.
struct CustomValues {
  size_t last = 0;
  std::vector<UOp> values, gradients = {};
};

class GradientWalk {
 public:
  GradientWalk(UOp y, UOp seed) : walk_(y), seed_(seed), grads_(walk_.size()) {
    wanted_.assign(walk_.size(), false);
    leads_.assign(walk_.size(), false);
  }

  void want(UOp x, size_t number, UOp y) {
    if (!x->state.requires_grad)
      throw UsageError(
          fmt::format("value {} of {} to differentiate with respect to does not require grad; "
                      "call requires_grad() on it before it is used",
                      number, ir::type_and_shape(x)));
    if (!walk_.carries(x))
      throw UsageError(
          fmt::format("value {} of {} to differentiate with respect to was not used to compute the {} result; "
                      "give the version that was",
                      number, ir::type_and_shape(x), ir::type_and_shape(y)));
    xs_.push_back(x->position);
    wanted_[x->position] = leads_[x->position] = true;
  }

  std::vector<UOp> run() {
    if (!walk_.size()) return {};  // y carries no gradient, and no x is wanted
    grads_[0] = {seed_};
    for (size_t i = walk_.size(); i-- > 0;)
      for (int32_t s : walk_.sources(i)) leads_[i] = leads_[i] || (s >= 0 && leads_[s]);
    user_rules_ = walk_.has_user_rules();
    std::vector<ir::NodeRef> held;  // functions of the program may let other threads use the graph
    if (user_rules_) {
      for (UOp n : walk_.order()) held.emplace_back(n);
      find_customs();
    }
    for (size_t i = 0; i < walk_.size(); ++i)
      if (leads_[i]) visit(i);
    std::vector<UOp> out;
    for (size_t x : xs_) {
      std::vector<UOp>& parts = grads_[x];
      out.push_back(parts.empty() ? ir::like(walk_.order()[x], 0.0) : add_up(parts));
    }
    return out;
  }

 private:
  std::vector<bool> wanted_sources(size_t i) const {
    return ir::mapped(walk_.sources(i), [&](int32_t s) { return s >= 0 && leads_[s]; });
  }

  void visit(size_t i) {
    const UOp n = walk_.order()[i];
    std::vector<UOp>& parts = grads_[i];
    if (user_rules_) {
      if (!parts.empty()) apply_hooks(n, parts);
      if (n->op == ir::Op::Custom && !walk_.sources(i).empty()) return visit_custom(i);
    }
    if (parts.empty() || walk_.sources(i).empty()) return;
    std::vector<bool> sources = wanted_sources(i);
    if (!ir::contains(sources, true)) return;
    const GradientRule rule = rule_of(n->op);
    if (!rule) throw InternalError(fmt::format("no gradient rule for {}", ir::info(n->op).name));
    require_sources(n, sources.size());
    Adjoint a(n, add_up(parts), std::move(sources));
    {
      const ir::GradientOrigin traced(n->state.origin);
      rule(a);
    }
    for (size_t k = 0; k < walk_.sources(i).size(); ++k)
      if (UOp part = a.source_gradient(k)) give(i, k, part);
    if (!wanted_[i]) parts = {};
  }
  void give(size_t i, size_t k, UOp part) { grads_[walk_.sources(i)[k]].push_back(part); }
  /// Another thread may have consumed the graph while a function of the program ran.
  static void require_sources(UOp n, size_t count) {
    if (n->src.size() != count)
      throw UsageError(fmt::format("another thread's backward() has let the history of the {} value of {} go meanwhile",
                                   ir::info(n->op).name, ir::type_and_shape(n)));
  }

  static void apply_hooks(UOp n, std::vector<UOp>& parts) {
    for (const std::shared_ptr<const ir::UserRule>& hook : ir::hooks_of(n))
      if (const UOp changed = hook->gradients({.node = n, .gradients = {add_up(parts)}, .values = {n}})[0])
        parts = {changed};
  }

  void find_customs() {
    for (size_t i = 0; i < walk_.size(); ++i) {
      const UOp n = walk_.order()[i];
      if (n->op != ir::Op::Custom || walk_.sources(i).empty()) continue;
      const std::shared_ptr<const ir::RuleGroup> group = ir::rule_group(n);
      if (!group) throw UsageError("a value of a jitted function with a gradient of its own is differentiated outside");
      CustomValues& all = customs_[group.get()];
      all.values.resize(group->values);
      all.gradients.resize(group->values);
      all.values[n->integer()] = n;
      all.last = i;
    }
  }
  void visit_custom(size_t i) {
    const UOp n = walk_.order()[i];
    const std::shared_ptr<const ir::RuleGroup> group = ir::rule_group(n);
    CustomValues& all = customs_.at(group.get());
    if (!grads_[i].empty()) all.gradients[n->integer()] = add_up(grads_[i]);
    if (!wanted_[i]) grads_[i] = {};
    const bool any = std::ranges::any_of(all.gradients, [](UOp g) { return static_cast<bool>(g); });
    std::vector<bool> sources = wanted_sources(i);
    if (i != all.last || !any || !ir::contains(sources, true)) return;
    require_sources(n, sources.size());
    ir::UserRule::Call call{.node = n, .gradients = std::move(all.gradients), .values = std::move(all.values)};
    for (size_t k = group->values; k < sources.size(); ++k) {
      call.arguments.push_back(n->src[k]);
      call.wanted.push_back(sources[k]);
    }
    const ir::GradientOrigin traced(n->state.origin);
    const std::vector<UOp> made = group->rule->gradients(call);
    for (size_t k = 0; k < made.size(); ++k)
      if (made[k] && call.wanted[k]) give(i, group->values + k, made[k]);
  }

  const ReverseWalk walk_;
  const UOp seed_;
  std::vector<std::vector<UOp>> grads_;  ///< partial gradients of each value
  std::vector<bool> wanted_, leads_;
  std::vector<size_t> xs_;
  bool user_rules_ = false;
  std::unordered_map<const ir::RuleGroup*, CustomValues> customs_;
};

}  // namespace

std::vector<UOp> gradient_nodes(UOp root) {
  std::vector<UOp> order = ir::topological(std::span<const UOp>(&root, 1), propagates_gradient);
  std::erase_if(order, [](UOp n) { return !n->state.requires_grad; });
  std::ranges::reverse(order);
  for (UOp n : order)
    if (n->state.consumed && !n->state.leaf)
      throw UsageError(
          fmt::format("a backward() has already walked this graph: the {} value of {} has let its history go; "
                      "call that backward() with keep_graph = true, or build the expression again",
                      ir::info(n->op).name, ir::type_and_shape(n)));
  return order;
}

std::vector<UOp> gradient(UOp y, UOp seed, std::span<const UOp> xs) {
  if (seed->shape != y->shape || seed->dtype != y->dtype)
    throw InternalError(
        fmt::format("gradient of {} with a seed of {}", ir::type_and_shape(y), ir::type_and_shape(seed)));
  GradientWalk walk(y, seed);
  for (size_t k = 0; k < xs.size(); ++k) walk.want(xs[k], k, y);
  return walk.run();
}

}  // namespace sinter::autodiff
