// Gradients and hooks that the program defines: functions of tensors as rules of nodes.
#include "sinter/custom_gradient.h"

#include <fmt/core.h>

#include "ir/user_rule.h"
#include "sinter/gradient.h"
#include "tensor/core/operands.h"
#include "tensor/core/user_call.h"
#include "tensor/transform/vmap.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// Refuses a gradient that does not fit what it is of.
void check_gradient(UOp gradient, UOp of, const std::string& by, const std::string& what) {
  if (gradient->shape != of->shape || gradient->dtype != of->dtype)
    usage_error("{} gave {} as the gradient of {}, which is {}; they must agree", by, describe(gradient), what,
                describe(of));
  if (gradient->device != of->device)
    usage_error("{} gave a gradient on {} for {}, which lies on {}; move it there", by, to_string(gradient->device),
                what, to_string(of->device));
}

std::vector<Tensor> wrapped(const std::vector<UOp>& nodes) { return mapped(nodes, wrap); }

class BackwardRule final : public UserRule {
 public:
  BackwardRule(transforms::BackwardFunction backward, Loc where)
      : backward_(std::move(backward)),
        by_(fmt::format("the backward function of custom_gradient() at {}:{}", where.file_name(), where.line())) {}

  std::vector<UOp> gradients(const Call& call) const override {
    std::vector<UOp> gradients = call.gradients, values = call.values;
    for (size_t k = 0; k < values.size(); ++k) {
      if (!values[k]) values[k] = unused_value(call.node, k);
      if (!gradients[k]) gradients[k] = like(values[k], 0.0);
    }
    std::vector<UOp> made;
    {
      transforms::BackwardCall given{wrapped(gradients), wrapped(values), wrapped(call.arguments)};
      const std::vector<Tensor> results = call_program([&] { return backward_(given); });
      made = held_nodes(results);
    }
    if (made.size() != call.arguments.size())
      usage_error("{} gave {} gradients for {} arguments; give one for each, an empty Tensor for 0", by_, made.size(),
                  call.arguments.size());
    for (size_t i = 0; i < made.size(); ++i)
      if (made[i] && call.wanted[i]) check_gradient(made[i], call.arguments[i], by_, fmt::format("argument {}", i));
    return made;
  }
  std::shared_ptr<const UserRule> batched(UOp node, const Dim& count) const override {
    return batched_rule(std::make_shared<BackwardRule>(*this), node, count);
  }

 private:
  /// A value that nothing used, with the same gradient.
  static UOp unused_value(UOp node, size_t k) {
    const UOp value = node->src[k];
    const UOp made =
        TensorGraph::get().make({Op::Custom, value->dtype, value->shape, Sources(node->src), static_cast<int64_t>(k)});
    if (made->state.requires_grad)
      if (const std::shared_ptr<const RuleGroup> group = rule_group(node)) set_rule_group(made, group);
    return made;
  }

  const transforms::BackwardFunction backward_;
  const std::string by_;
};

class HookRule final : public UserRule {
 public:
  HookRule(GradientHook hook, Loc where)
      : hook_(std::move(hook)), by_(fmt::format("the hook at {}:{}", where.file_name(), where.line())) {}

  std::vector<UOp> gradients(const Call& call) const override {
    std::vector<UOp> made;
    {
      const Tensor given = wrap(call.gradients[0]);
      const std::vector<Tensor> results = call_program([&] {
        Tensor changed;
        hook_(given, changed);
        return std::vector<Tensor>{changed};
      });
      made = held_nodes(results);
    }
    if (made[0]) check_gradient(made[0], call.gradients[0], by_, "a tensor");
    return made;
  }
  std::shared_ptr<const UserRule> batched(UOp node, const Dim& count) const override {
    return batched_rule(std::make_shared<HookRule>(*this), node, count);
  }

 private:
  const GradientHook hook_;
  const std::string by_;
};

}  // namespace

namespace transforms {

std::vector<Tensor> custom_gradient(const ListFunction& forward, BackwardFunction backward,
                                    const std::vector<Tensor>& x, Loc where) {
  const OuterCall call("custom_gradient", where);
  std::vector<Tensor> values;
  {
    const no_grad off;
    values = call_program_in_scope([&] { return forward(x); });
  }
  const GraphScope scope;
  auto src = mapped<Sources>(values, [&](const Tensor& y) { return detach(node_of(y)); });
  bool wanted = false;
  for (const Tensor& t : x) {
    src.push_back(node_of(t));
    wanted |= src.back()->state.requires_grad;
  }
  for (UOp n : src)
    if (n->device != src[0]->device)
      usage_error("tensors lie on {} and on {}; move all arguments and values to one device", to_string(src[0]->device),
                  to_string(n->device));
  auto group = std::make_shared<RuleGroup>();
  group->rule = std::make_shared<BackwardRule>(std::move(backward), where);
  group->values = values.size();
  for (size_t k = 0; k < values.size(); ++k) {
    if (!wanted || !grad_enabled() || !is_float(src[k]->dtype)) {
      values[k] = wrap(src[k]);
      continue;
    }
    const UOp n =
        TensorGraph::get().make({Op::Custom, src[k]->dtype, src[k]->shape, Sources(src), static_cast<int64_t>(k)});
    set_rule_group(n, group);
    if (Observer* observer = Observer::current()) observer->on_rule(n);
    values[k] = wrap(n);
  }
  return values;
}

}  // namespace transforms

void RemovableHandle::remove() {
  const GraphScope scope;
  if (number_) remove_hook(std::exchange(number_, 0));
}

RemovableHandle TensorMethods::add_gradient_hook(GradientHook hook, Loc where) const {
  const Call call("register_hook", where);
  const Tensor& x = self();
  const UOp n = node_of(x);
  if (!n->state.requires_grad)
    usage_error("{} depends on nothing that requires grad, so it has no gradient; call requires_grad() on it before",
                describe(n));
  if (Observer* observer = Observer::current()) {
    if (n->state.leaf) observer->on_change(x.cell(), "registers a hook on the gradient of");
    observer->on_rule(n);
  }
  return RemovableHandle(add_hook(n, std::make_shared<HookRule>(std::move(hook), where)));
}

void Tensor::retain_grad(Loc where) {
  const OuterCall outer("retain_grad", where);
  if (node_of(*this)->state.leaf) return;  // backward() gives it one
  register_hook(
      [cell = std::weak_ptr<Cell>(cell_)](const Tensor& gradient) {
        const std::shared_ptr<Cell> kept = cell.lock();
        if (!kept) return;
        Tensor x(kept);
        x.set_grad(x.has_grad() ? x.grad() + gradient : gradient);
      },
      where);
}

}  // namespace sinter::inline v0
