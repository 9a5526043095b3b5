// The gradient of a module's output is made before those of its inputs, so it waits in the call for them.
#include "nn/backward_hooks.h"

#include "sinter/custom_gradient.h"
#include "tensor/core/cell.h"
#include "tensor/core/hooks.h"

namespace sinter::inline v0::nn {
namespace {

using namespace tensor;

/// Refuses a gradient that a hook gave in place of another one.
void check_gradient(const Tensor& gradient, const Tensor& before, const char* of) {
  if (!gradient.defined()) return;
  if (gradient.shape() != before.shape() || gradient.dtype() != before.dtype())
    usage_error("a backward hook gave {} {} as the gradient of {}, which is {} {}; they must agree",
                name_of(gradient.dtype()), to_string(gradient.shape()), of, name_of(before.dtype()),
                to_string(before.shape()));
}

/// x as other tensors, whose gradient `backward` makes.
std::vector<Tensor> passed_through(const std::vector<Tensor>& x, transforms::BackwardFunction backward, Loc where) {
  return transforms::custom_gradient([](const std::vector<Tensor>& same) { return same; }, std::move(backward), x,
                                     where);
}

}  // namespace

BackwardHooks::BackwardHooks(std::vector<FullBackwardPreHook> before, std::vector<FullBackwardHook> after, Loc where)
    : call_(std::make_shared<Call>(Call{std::move(before), std::move(after)})), where_(where) {
  if (const Observer* observer = Observer::current(); observer && observer->of_one_element())
    usage_error("backward hooks see whole batches, and vmap() calls the module for one element; remove_hook() them");
}

std::vector<Tensor> BackwardHooks::Call::run(std::vector<Tensor> grad_inputs, const Tensor& grad) const {
  std::vector<Tensor> all(inputs);
  for (size_t i = 0; i < watched.size(); ++i) all[watched[i]] = grad_inputs[i];
  for (const FullBackwardHook& hook : after) {
    hook(all, grad);
    if (all.size() != inputs)
      usage_error("a backward hook gave {} gradients for {} inputs; give one for each", all.size(), inputs);
    for (size_t i = 0; i < watched.size(); ++i) {
      check_gradient(all[watched[i]], grad_inputs[i], "an input");
      grad_inputs[i] = all[watched[i]];
    }
  }
  return grad_inputs;
}

void BackwardHooks::watch_inputs(std::vector<Tensor>& x) {
  call_->inputs = x.size();
  std::vector<Tensor> given;
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i].needs_grad()) call_->watched.push_back(i), given.push_back(x[i]);
  if (given.empty() || call_->after.empty()) return;
  const std::vector<Tensor> made = passed_through(
      given,
      [call = call_](const transforms::BackwardCall& back) {
        const Tensor grad = std::exchange(call->grad_output, {});
        return grad.defined() ? call->run(back.gradients, grad) : back.gradients;
      },
      where_);
  for (size_t i = 0; i < made.size(); ++i) x[call_->watched[i]] = made[i];
}

Tensor BackwardHooks::watched_output(const Tensor& y) {
  if (!y.needs_grad()) return y;
  return passed_through(
      {y},
      [call = call_](const transforms::BackwardCall& back) {
        Tensor grad = back.gradients[0];
        for (const FullBackwardPreHook& hook : call->before) {
          hook(grad);
          check_gradient(grad, back.gradients[0], "the output");
        }
        if (call->watched.empty())
          call->run({}, grad);
        else if (!call->after.empty())
          call->grad_output = grad;
        return std::vector<Tensor>{grad};
      },
      where_)[0];
}

}  // namespace sinter::inline v0::nn
